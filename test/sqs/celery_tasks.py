"""A Celery application whose broker is SQS, told by the environment: BROKER_URL, QUEUE, and RESULT, the file that a task writes to."""
import os
import sys

from celery import Celery

app = Celery("tasks", broker=os.environ["BROKER_URL"])
app.conf.update(
    broker_transport_options={"is_secure": False, "region": "us-east-1", "wait_time_seconds": 2, "visibility_timeout": 60},
    task_default_queue=os.environ["QUEUE"],
    task_acks_late=True,
    worker_enable_remote_control=False,
    worker_send_task_events=False,
)


@app.task(name="tasks.add", ignore_result=True, bind=True, max_retries=2)
def add(self, a, b):
    if self.request.retries == 0 and a == 0:
        raise self.retry(countdown=0)
    with open(os.environ["RESULT"], "a") as file:
        file.write(f"{a + b}\n")


if __name__ == "__main__":
    for pair in sys.argv[1:]:
        add.delay(*(int(number) for number in pair.split("+")))
