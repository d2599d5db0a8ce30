// deploy/docker and deploy/kubernetes say what their documents promise: nothing runs as root or writes to its image, and all parts agree.
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { loadConfig } from '../../src/config/config.ts';
import { PROJECT } from '../support/process.ts';

const DOCKER = join(PROJECT, 'deploy/docker');
const KUBERNETES = join(PROJECT, 'deploy/kubernetes');
const OWN_FIELD = /QM_DOMAIN|POSTGRES_|BASE_URL/;

// biome-ignore lint/suspicious/noExplicitAny: documents of many shapes
type Document = any;
const compose = (name: string): Document => parse(readFileSync(join(DOCKER, name), 'utf8'), { merge: true });
/** As Compose fills in `${NAME}`, `${NAME:-default}` and `${NAME:?}`. */
const filled = (text: string) =>
  text.replaceAll(
    /\$\{(\w+)(?::-([^}]*))?(?::\?[^}]*)?\}/g,
    (_, name, value) => value ?? `${name.toLowerCase()}-of-sixteen`,
  );

test.each([
  ['compose.yaml', ['quartermaster']],
  ['compose.postgres.yaml', ['api-1', 'api-2']],
])('%s: services are confined, stop in order, and have settings that the service takes', (file, names) => {
  const { services, volumes } = compose(file);
  for (const name of names) {
    const service = services[name];
    expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] });
    expect(Number.parseInt(service.stop_grace_period, 10)).toBeGreaterThanOrEqual(30);
    const settings = Object.entries(service.environment as Record<string, string>);
    const env = Object.fromEntries(
      settings.map(([key, value]) => [key, filled(value).replace('qm_domain-of-sixteen', 'qm.example.com')]),
    );
    expect(loadConfig({ ...env, HOST: '0.0.0.0', DATA_DIR: '/data' }).baseUrl).toMatch(/^https?:/);
    expect(settings.every(([key]) => OWN_FIELD.test(key) || env[key] !== '')).toBe(true);
  }
  const used = Object.values(services as Record<string, Document>).flatMap(
    (service) => (service.volumes ?? []) as string[],
  );
  expect([...new Set(used.map((volume) => volume.split(':')[0]))].sort()).toEqual(Object.keys(volumes).sort());
});

test('compose.postgres.yaml: Caddy asks the services that are there, and only its network is trusted', () => {
  const { services, configs, networks } = compose('compose.postgres.yaml');
  const upstreams = /reverse_proxy (.*) \{/.exec(configs.caddyfile.content)?.[1]?.split(' ');
  expect(upstreams).toEqual(['api-1:8787', 'api-2:8787']);
  expect(services['api-1'].environment.TRUST_PROXY).toBe(networks.default.ipam.config[0].subnet);
  expect(services.postgres.image).toBe('postgres:18');
});

const kubectl = spawnSync('kubectl', ['version', '--client']).status === 0;
const built = (): Document[] =>
  parseAllDocuments(execFileSync('kubectl', ['kustomize', KUBERNETES], { encoding: 'utf8' })).map((one) => one.toJS());

test.skipIf(!kubectl)(`Kubernetes: kustomize builds what is listed${kubectl ? '' : ' (skipped: no kubectl)'}`, () => {
  const documents = built();
  const find = (kind: string, name: string) => documents.find((one) => one.kind === kind && one.metadata.name === name);
  const deployment = find('Deployment', 'quartermaster');
  const job = find('CronJob', 'backup');
  for (const pod of [deployment.spec.template.spec, job.spec.jobTemplate.spec.template.spec]) {
    expect(pod).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, runAsUser: 10001, seccompProfile: { type: 'RuntimeDefault' } },
    });
    const names = pod.volumes.map(({ name }: Document) => name);
    for (const container of [...(pod.initContainers ?? []), ...pod.containers]) {
      expect(container.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      expect(container.resources).toMatchObject({
        requests: { cpu: expect.any(String) },
        limits: { memory: expect.any(String) },
      });
      for (const { name } of container.volumeMounts) expect(names).toContain(name);
      for (const { configMapRef, secretRef } of container.envFrom ?? [])
        expect(
          configMapRef === undefined ? find('Secret', secretRef.name) : find('ConfigMap', configMapRef.name),
        ).toBeDefined();
    }
    for (const { persistentVolumeClaim: claim } of pod.volumes.filter((one: Document) => one.persistentVolumeClaim))
      expect(find('PersistentVolumeClaim', claim.claimName)).toBeDefined();
  }
  const labels = deployment.spec.template.metadata.labels;
  for (const selector of [
    find('Service', 'quartermaster').spec.selector,
    find('PodDisruptionBudget', 'quartermaster').spec.selector.matchLabels,
    find('NetworkPolicy', 'api').spec.podSelector.matchLabels,
  ])
    expect(labels).toMatchObject(selector);
  expect(job.spec.jobTemplate.spec.template.metadata.labels).toMatchObject(
    find('NetworkPolicy', 'backup').spec.podSelector.matchLabels,
  );
});

test.skipIf(!kubectl)(
  'Kubernetes: the service refuses the secrets as they come, and takes the settings with one’s own',
  () => {
    const documents = built();
    const { data } = documents.find(({ kind }) => kind === 'ConfigMap');
    const { stringData } = documents.find(({ kind }) => kind === 'Secret');
    const env = { ...data, HOST: '0.0.0.0', DATA_DIR: '/data' };
    expect(() => loadConfig({ ...env, ...stringData })).toThrow(/SECRETS_KEY|DATABASE_URL/);
    expect(
      loadConfig({ ...env, SECRETS_KEY: 'sixteen characters', DATABASE_URL: 'postgresql://a:b@postgres/c' }).baseUrl,
    ).toBe('https://qm.example.com');
  },
);
