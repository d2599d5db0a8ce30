// Functions of one value at a time, and of the time.

type Params = readonly Float64Array[];
/** Of the value and the step; null drops the value. */
type ValueFunction = (value: number, step: number) => number | null;

const at = (params: Params, i: number, step: number) => params[i]?.[step] as number;

/** Go's Max and Min: an infinity that decides comes before NaN. */
function larger(a: number, b: number): number {
  return a === Number.POSITIVE_INFINITY || b === Number.POSITIVE_INFINITY ? Number.POSITIVE_INFINITY : Math.max(a, b);
}

function smaller(a: number, b: number): number {
  return -larger(-a, -b);
}

const plain = (of: (value: number) => number) => () => of;
const dateOf = (seconds: number) => new Date(Math.trunc(seconds) * 1_000);
const calendar = (of: (date: Date) => number) => plain((seconds) => of(dateOf(seconds)));

/** Times of the calendar, UTC. */
export const calendarFunctions: Readonly<Record<string, (params: Params) => ValueFunction>> = {
  minute: calendar((date) => date.getUTCMinutes()),
  hour: calendar((date) => date.getUTCHours()),
  day_of_month: calendar((date) => date.getUTCDate()),
  day_of_week: calendar((date) => date.getUTCDay()),
  day_of_year: calendar((date) => dayOfYear(date)),
  days_in_month: calendar((date) => new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate()),
  month: calendar((date) => date.getUTCMonth() + 1),
  year: calendar((date) => date.getUTCFullYear()),
};

function dayOfYear(date: Date): number {
  const midnight = Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate());
  return (midnight - Date.UTC(date.getUTCFullYear(), 0, 1)) / 86_400_000 + 1;
}

/** By the numbers that they take, of each step. */
export const valueFunctions: Readonly<Record<string, (params: Params) => ValueFunction>> = {
  ...calendarFunctions,
  abs: plain(Math.abs),
  ceil: plain(Math.ceil),
  floor: plain(Math.floor),
  sgn: plain((value) => (value < 0 ? -1 : value > 0 ? 1 : value)),
  sqrt: plain(Math.sqrt),
  exp: plain(Math.exp),
  ln: plain(Math.log),
  log2: plain(Math.log2),
  log10: plain(Math.log10),
  sin: plain(Math.sin),
  cos: plain(Math.cos),
  tan: plain(Math.tan),
  asin: plain(Math.asin),
  acos: plain(Math.acos),
  atan: plain(Math.atan),
  sinh: plain(Math.sinh),
  cosh: plain(Math.cosh),
  tanh: plain(Math.tanh),
  asinh: plain(Math.asinh),
  acosh: plain(Math.acosh),
  atanh: plain(Math.atanh),
  rad: plain((value) => (value * Math.PI) / 180),
  deg: plain((value) => (value * 180) / Math.PI),
  // To multiples of the inverse's inverse, as Prometheus does: 0.1 has no exact one.
  round: (params) => (value, step) => {
    const inverse = 1 / (params.length === 0 ? 1 : at(params, 0, step));
    return Math.floor(value * inverse + 0.5) / inverse;
  },
  clamp: (params) => (value, step) => {
    const [least, most] = [at(params, 0, step), at(params, 1, step)];
    return most < least ? null : larger(least, smaller(most, value));
  },
  clamp_min: (params) => (value, step) => larger(at(params, 0, step), value),
  clamp_max: (params) => (value, step) => smaller(at(params, 0, step), value),
};
