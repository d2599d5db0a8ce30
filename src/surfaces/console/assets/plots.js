// @ts-check
// Draws the tables of a page as stacked bars, or lines. The table stays below, for who wants the figures; the pointer tells the figures of a
// bucket, and dragging shows that period.

/** @type {any} */
const UPlot = /** @type {any} */ (globalThis).uPlot;
const HEIGHT = 220;
const COLORS = 9;
const HOUR_SECONDS = 3_600;
const DAY_SECONDS = 24 * HOUR_SECONDS;
const DRAGGED_PIXELS_MIN = 10;
const DIGIT_PIXELS = 7.5;
const TIP_PIXELS = 14;
/** Of the axis of what is counted: half a call is no call. */
const WHOLE_STEPS = [...Array(15).keys()].flatMap((power) => [1, 2, 5].map((step) => step * 10 ** power));

/** @typedef {{ seconds: number[], labels: string[], colors: string[], isWhole: boolean, stacked: (number | null)[][] }} Figures */
/** @type {WeakMap<Element, { plot: any, place: HTMLElement }>} */
const drawn = new WeakMap();

/** @param {HTMLElement} figure @returns {Figures} */
function read(figure) {
  const table = figure.querySelector('details table');
  const heads = /** @type {HTMLElement[]} */ ([...(table?.querySelectorAll('thead th') ?? [])].slice(1));
  const labels = heads.map((cell) => cell.textContent ?? '');
  const colors = heads.map(({ dataset }, i) => colorOf(dataset.tone, i));
  const rows = [...(table?.querySelectorAll('tbody tr') ?? [])];
  const seconds = rows.map((row) => Date.parse(row.querySelector('time')?.dateTime ?? '') / 1_000);
  const plain = labels.map((_, i) => rows.map((row) => figureOf(row.querySelectorAll('td')[i])));
  /** @type {(number | null)[][]} */
  const stacked = [];
  const isWhole =
    figure.dataset.unit !== 'USD' && plain.every((of) => of.every((value) => Number.isInteger(value ?? 0)));
  if (figure.hasAttribute('data-line')) return { seconds, labels, colors, isWhole, stacked: plain };
  for (const values of plain) {
    const below = stacked.at(-1);
    stacked.push(values.map((value, i) => (value ?? 0) + (below?.[i] ?? 0)));
  }
  return { seconds, labels, colors, isWhole, stacked };
}

/** Null where it is unknown. @param {HTMLElement | undefined} cell */
function figureOf(cell) {
  const value = cell?.dataset.value;
  return value === undefined ? null : Number(value);
}

/**
 * What stands at the pointer: when, and what is there of each series, as the table tells it.
 * @param {any} plot @param {HTMLElement} figure @param {HTMLElement} tip @param {Pick<Figures, 'labels' | 'colors'>} of
 */
function tell(plot, figure, tip, { labels, colors }) {
  const { left } = plot.cursor;
  const [seconds] = plot.data;
  // The bucket that the pointer is in, not the one whose start is nearest.
  const at = Math.floor((plot.posToVal(left, 'x') - seconds[0]) / stepOf(seconds));
  const row = figure.querySelectorAll('details tbody tr')[at];
  tip.hidden = row === undefined || left < 0;
  if (row === undefined || tip.hidden) return;
  const cells = /** @type {HTMLElement[]} */ ([...row.querySelectorAll('td')]);
  const lines = cells.flatMap(({ dataset: { value, told } }, i) =>
    told === undefined || (Number(value) === 0 && cells.length > 1)
      ? []
      : [line(labels[i] ?? '', told ?? '', colors[i] ?? '')],
  );
  const time = document.createElement('strong');
  time.textContent = `${row.querySelector('time')?.textContent} UTC`;
  tip.replaceChildren(time, ...(lines.length === 0 ? ['nothing'] : lines));
  const isRight = left > plot.over.clientWidth / 2;
  tip.style.left = isRight ? 'auto' : `${left + TIP_PIXELS}px`;
  tip.style.right = isRight ? `${plot.over.clientWidth - left + TIP_PIXELS}px` : 'auto';
}

/** @param {string} label @param {string} told @param {string} ink */
function line(label, told, ink) {
  const [of, marker, name, value] = ['div', 'i', 'span', 'b'].map((tag) => document.createElement(tag));
  if (!of || !marker || !name || !value) throw new Error('no element');
  marker.style.background = ink;
  name.textContent = label;
  value.textContent = told;
  of.append(marker, name, value);
  return of;
}

/** How long a bucket is; one alone is an hour. @param {number[]} seconds */
function stepOf([first = 0, second = first + HOUR_SECONDS]) {
  return second - first;
}

/** From where the first bucket begins to where the last one ends. @param {number[]} seconds */
function extent(seconds) {
  return [seconds[0] ?? 0, (seconds.at(-1) ?? 0) + stepOf(seconds)];
}

/** The color of a series, as the style says: of what it means, or the next one. @param {string | undefined} tone @param {number} i */
function colorOf(tone, i) {
  const name = { good: 'green', warning: 'amber', critical: 'red' }[tone ?? ''] ?? `series-${i % COLORS}`;
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`);
}

/** @param {HTMLElement} figure @param {Figures} figures @param {HTMLElement} place */
function make(figure, { seconds, labels, colors, isWhole, stacked }, place) {
  const ink = getComputedStyle(document.body).color;
  const axis = {
    stroke: ink,
    grid: { stroke: getComputedStyle(document.documentElement).getPropertyValue('--line'), width: 1 },
    ticks: { show: false },
  };
  const isLine = figure.hasAttribute('data-line');
  const bars = UPlot.paths.bars({ size: [0.8, 60], align: 1 });
  const hatchRunning = (/** @type {any} */ plot) => figure.hasAttribute('data-running') && !isLine && hatch(plot);
  // The tallest is drawn first, and the lower ones over it.
  const order = labels.map((_, i) => i).reverse();
  const series = order.map((i) => ({
    label: labels[i],
    stroke: colors[i],
    ...(isLine ? { width: 2 } : { fill: colors[i], width: 0, paths: bars }),
    points: { show: false },
  }));
  const sign = figure.dataset.unit === 'USD' ? '$' : '';
  const tip = document.createElement('div');
  tip.className = 'tip';
  tip.hidden = true;
  const options = {
    width: place.clientWidth,
    height: HEIGHT,
    tzDate: (/** @type {number} */ ts) => UPlot.tzDate(new Date(ts * 1_000), 'Etc/UTC'),
    series: [{}, ...series],
    legend: { live: false },
    axes: [
      { ...axis, size: 32, values: (/** @type {any} */ _, /** @type {number[]} */ splits) => splits.map(instant) },
      {
        ...axis,
        size: widthOf,
        ...(isWhole ? { incrs: WHOLE_STEPS } : {}),
        values: (/** @type {any} */ _, /** @type {number[]} */ splits) => splits.map((value) => sign + short(value)),
      },
    ],
    scales: {
      // The last bucket begins at the last instant; as time goes on there are others.
      x: { range: (/** @type {{ data: number[][] }} */ { data: [starts = []] }) => extent(starts) },
      y: {
        range: (/** @type {any} */ _, /** @type {number} */ __, /** @type {number} */ max) => [
          0,
          max > 0 ? max * 1.05 : 1,
        ],
      },
    },
    cursor: { drag: { x: true, y: false, setScale: false }, y: false, points: { show: isLine } },
    hooks: {
      setSelect: [zoomed],
      draw: [hatchRunning],
      setCursor: [(/** @type {any} */ plot) => tell(plot, figure, tip, { labels, colors })],
    },
  };
  const made = new UPlot(options, [seconds, ...order.map((i) => stacked[i])], place);
  made.over.append(tip);
  return made;
}

/** The hour, or at midnight the day. @param {number} seconds */
function instant(seconds) {
  const text = new Date(seconds * 1_000).toISOString();
  return text.slice(11, 16) === '00:00' ? text.slice(5, 10) : text.slice(11, 16);
}

/** As much room as the longest figure beside the plot takes. @param {any} _ @param {string[] | null} values */
function widthOf(_, values) {
  return 16 + DIGIT_PIXELS * Math.max(0, ...(values ?? []).map(({ length }) => length));
}

/** The digits that count, without an exponent. @param {number} value */
function short(value) {
  const notation = Math.abs(value) < 1e6 ? 'standard' : 'compact';
  return new Intl.NumberFormat('en', { maximumSignificantDigits: 3, notation }).format(value);
}

/** The page of the hours or days that somebody dragged over, where they are less than what is shown. @param {any} plot */
function zoomed(plot) {
  const { left, width } = plot.select;
  const { min, max } = plot.scales.x;
  const unit = stepOf(plot.data[0]) < DAY_SECONDS ? HOUR_SECONDS : DAY_SECONDS;
  const first = Math.floor(plot.posToVal(left, 'x') / unit);
  // What begins at its end is no more of the period.
  const last = Math.floor((plot.posToVal(left + width, 'x') - 1) / unit);
  const isLess = (last - first + 1) * unit < max - min;
  if (width < DRAGGED_PIXELS_MIN || !isLess || document.querySelector('.period') === null) {
    plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    return;
  }
  const address = new URL(location.href);
  for (const other of ['step', 'cursor']) address.searchParams.delete(other);
  address.searchParams.set('period', 'custom');
  const text = (/** @type {number} */ seconds) => new Date(seconds * 1_000).toISOString();
  // The last day is told, and the end of the last hour.
  const [from, to] =
    unit === DAY_SECONDS
      ? [first, last].map((day) => text(day * unit).slice(0, 10))
      : [first, last + 1].map((hour) => `${text(hour * unit).slice(0, 16)}Z`);
  address.searchParams.set('from', from ?? '');
  address.searchParams.set('to', to ?? '');
  location.assign(address);
}

/** The bucket that still runs is hatched. @param {any} plot */
function hatch(plot) {
  const { ctx, bbox, data } = plot;
  const [seconds] = data;
  if (seconds.length === 0) return;
  const left = plot.valToPos(seconds.at(-1), 'x', true);
  const width = plot.valToPos(seconds.at(-1) + stepOf(seconds) * 0.8, 'x', true) - left;
  ctx.save();
  ctx.beginPath();
  ctx.rect(left, bbox.top, width, bbox.height);
  ctx.clip();
  ctx.strokeStyle = getComputedStyle(document.body).backgroundColor;
  ctx.lineWidth = 2;
  for (let x = left - bbox.height; x < left + width; x += 8) {
    ctx.beginPath();
    ctx.moveTo(x, bbox.top + bbox.height);
    ctx.lineTo(x + bbox.height, bbox.top);
    ctx.stroke();
  }
  ctx.restore();
}

function drawAll() {
  for (const figure of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll('figure.plot'))) {
    const figures = read(figure);
    const before = drawn.get(figure);
    const place = figure.querySelector('.drawn');
    if (!(place instanceof HTMLElement)) continue;
    const shape = JSON.stringify([figures.labels, figures.isWhole]);
    if (before !== undefined && place.dataset.shape === shape) {
      before.plot.setData([figures.seconds, ...figures.stacked.toReversed()]);
      continue;
    }
    const details = figure.querySelector('details');
    if (details !== null && before === undefined) details.open = false;
    before?.plot.destroy();
    place.replaceChildren();
    place.dataset.shape = shape;
    drawn.set(figure, { plot: make(figure, figures, place), place });
  }
}

drawAll();
document.addEventListener('morphed', drawAll);
addEventListener('resize', () => {
  for (const figure of document.querySelectorAll('figure.plot')) {
    const of = drawn.get(figure);
    of?.plot.setSize({ width: of.place.clientWidth, height: HEIGHT });
  }
});
// In other colors all are drawn anew.
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
  for (const place of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll('.drawn')))
    delete place.dataset.shape;
  drawAll();
});
