import { describe, expect, test } from 'vitest';
import { Problem } from '../problems/problem.ts';
import type { ModelRow, Vendor } from '../vendors/file/port.ts';
import { choose, type Market, nameOf, type Wish } from './choose.ts';

const nowMs = Date.parse('2026-11-01T00:00:00Z');

function vendor(id: string, fields: Partial<Vendor> = {}): Vendor {
  const usual = { adapter: 'a', baseUrl: '', region: 'western', key: null, markupPct: 0, assetHosts: [] } as const;
  return { id, ...usual, limits: { concurrent: null, perMinute: null }, priority: 100, disabled: null, ...fields };
}

/** `price` is what the request costs there. */
function row(of: Vendor, id: string, price: number, fields: Partial<ModelRow> = {}): ModelRow {
  const usual = {
    family: 'video',
    serves: ['video.make'],
    flagship: false,
    validUntilMs: null,
    traits: {},
    options: {},
    timeouts: {},
  };
  return { vendor: of, id, price, priceVersion: `v${price}`, ...usual, ...fields };
}

const acme = vendor('acme', { markupPct: 0.05 });
const bolt = vendor('bolt', { priority: 10 });
const cosa = vendor('cosa');
const deng = vendor('deng', { region: 'china' });
const echo = vendor('echo', { disabled: 'by the operator' });
const sandbox = vendor('sandbox');
const rows = [
  row(acme, 'grand', 100, { flagship: true }),
  row(acme, 'small', 40),
  row(bolt, 'small', 60),
  row(bolt, 'org/wan', 90, { flagship: true }),
  row(cosa, 'small', 61),
  row(cosa, 'grand', 140),
  row(cosa, 'old', 1, { validUntilMs: nowMs }),
  row(deng, 'small', 20),
  row(echo, 'alone', 5),
  row(sandbox, 'card-1', 1),
  row(sandbox, 'small', 1),
];
const vendors = [acme, bolt, cosa, deng, echo, sandbox];
const market: Market = { vendors, rows, region: 'western', excluded: new Set(), nowMs };
const wish: Wish<string> = {
  capability: 'video.make',
  model: null,
  vendor: null,
  crossRegion: false,
  unable: () => null,
  quote: ({ price }) => BigInt(price as number),
};

function chainOf(fields: Partial<Wish<string>>, of: Partial<Market> = {}): string[] {
  const choice = choose({ ...wish, ...fields }, { ...market, ...of });
  if (choice.kind !== 'chain') throw new Error('there is no chain');
  return choice.chain.map((candidate) => nameOf(candidate.row));
}

function refusalOf(fields: Partial<Wish<string>>, of: Partial<Market> = {}) {
  try {
    return chainOf(fields, of);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const { code, detail, param, message } = error;
    return { code, detail, param, message };
  }
}

describe('figures of their own', () => {
  test('cheapest goes by what is compared; what is left out, by the quotes', () => {
    const compared = (one: ModelRow) => BigInt(nameOf(one) === 'bolt/small' ? 1 : 2);
    expect(chainOf({ model: 'cheapest', compared })[0]).toBe('bolt/small');
    expect(chainOf({ compared })).toEqual(chainOf({}));
  });

  test('those that stand in for another are measured by it', () => {
    const unable = (one: ModelRow) => (one.vendor.id === 'sandbox' || one.id !== 'grand' ? 'other' : null);
    expect(chainOf({ unable })).toEqual(['acme/grand', 'cosa/grand']);
    expect(chainOf({ unable, primaryNanos: 90n })).toEqual(['acme/grand']);
  });
});

describe('order', () => {
  test.each([
    ['auto, and no model: priority, then quote', null, ['bolt/small', 'bolt/org/wan', 'acme/small']],
    ['auto', 'auto', ['bolt/small', 'bolt/org/wan', 'acme/small']],
    ['cheapest: quote; what costs above one and a half of it is left out', 'cheapest', ['acme/small', 'bolt/small']],
    ['smartest: flagships by priority', 'smartest', ['bolt/org/wan', 'acme/grand']],
    ['a bare model: wherever it is', 'small', ['bolt/small', 'acme/small', 'cosa/small']],
    ['a bare model whose id has a slash', 'org/wan', ['bolt/org/wan']],
    ['a vendor before the slash: there and nowhere else', 'acme/small', ['acme/small']],
    ['a vendor before a model with a slash', 'bolt/org/wan', ['bolt/org/wan']],
  ])('%s', (_name, model, expected) => {
    expect(chainOf({ model })).toEqual(expected);
  });

  test('a pinned vendor fails over to nothing, whatever the model', () => {
    expect(chainOf({ vendor: 'acme' })).toEqual(['acme/small']);
    expect(chainOf({ vendor: 'acme', model: 'smartest' })).toEqual(['acme/grand']);
    expect(chainOf({ vendor: 'acme', model: 'acme/grand' })).toEqual(['acme/grand']);
  });

  test('one and a half times the first still belongs to the chain, one nano-USD more does not', () => {
    const two = (second: number) => ({ rows: [row(acme, 'a', 100), row(cosa, 'a', second)] });
    expect(chainOf({ model: 'a' }, two(150))).toHaveLength(2);
    expect(chainOf({ model: 'a' }, two(151))).toHaveLength(1);
  });

  test('beside what is free nothing that costs is near', () => {
    expect(chainOf({}, { rows: [row(acme, 'a', 0), row(cosa, 'a', 1), row(bolt, 'b', 0)] })).toEqual([
      'bolt/b',
      'acme/a',
    ]);
  });

  test('those that are too dear are left out before three are taken', () => {
    const prices = [100, 160, 110, 120, 130];
    const many = prices.map((price, i) => row(vendor(`v${i}`, { priority: i }), 'a', price));
    expect(chainOf({}, { rows: many })).toEqual(['v0/a', 'v2/a', 'v3/a']);
  });

  test('without a flagship smartest is the first by priority', () => {
    expect(chainOf({ model: 'smartest' }, { rows: [row(acme, 'a', 1), row(bolt, 'b', 9)] })[0]).toBe('bolt/b');
  });

  test('the quote and its version are those of the row', () => {
    const choice = choose({ ...wish, model: 'acme/small' }, market);
    expect(choice).toMatchObject({
      kind: 'chain',
      chain: [
        { vendor: 'acme', model: 'small', region: 'western', markupPct: 0.05, quoteNanos: 40n, priceVersion: 'v40' },
      ],
    });
  });
});

describe('region and routing', () => {
  test('what is elsewhere serves only a call that may go there', () => {
    expect(chainOf({ model: 'cheapest', crossRegion: true })).toEqual(['deng/small']);
    expect(chainOf({ vendor: 'deng', crossRegion: true })).toEqual(['deng/small']);
    expect(refusalOf({ vendor: 'deng' })).toMatchObject({
      code: 'VENDOR_NOT_AVAILABLE',
      detail: 'region',
      param: 'vendor',
    });
  });

  test('an excluded vendor serves nothing, though it be pinned', () => {
    const excluded = new Set(['bolt']);
    expect(chainOf({}, { excluded })[0]).toBe('acme/small');
    expect(refusalOf({ model: 'bolt/small' }, { excluded })).toMatchObject({
      code: 'VENDOR_NOT_AVAILABLE',
      detail: 'excluded',
    });
  });
});

describe('the sandbox', () => {
  const only = { rows: rows.filter((each) => each.vendor === sandbox) };

  test('serves what nobody else is configured for', () => {
    expect(chainOf({}, only)).toEqual(['sandbox/card-1', 'sandbox/small']);
  });

  test('must be named where there is another vendor', () => {
    expect(chainOf({ model: 'cheapest' })).not.toContain('sandbox/card-1');
    expect(chainOf({ model: 'sandbox/card-1' })).toEqual(['sandbox/card-1']);
    expect(chainOf({ vendor: 'sandbox' })).toEqual(['sandbox/card-1']);
    expect(chainOf({ model: 'card-1' })).toEqual(['sandbox/card-1']);
  });

  test('takes no real request over, though all others be disabled, excluded or elsewhere', () => {
    const with1 = (other: Vendor) => ({ rows: [...only.rows, row(other, 'small', 5)] });
    expect(refusalOf({}, with1(echo))).toMatchObject({ code: 'VENDOR_NOT_AVAILABLE', detail: 'disabled' });
    expect(refusalOf({ model: 'small' }, with1(echo))).toMatchObject({ detail: 'disabled' });
    expect(refusalOf({}, with1(deng))).toMatchObject({ detail: 'region' });
    expect(refusalOf({}, { ...with1(acme), excluded: new Set(['acme']) })).toMatchObject({ detail: 'excluded' });
  });

  test('that the operator has disabled leaves nobody', () => {
    const disabled = vendor('sandbox', { disabled: 'by the operator' });
    expect(refusalOf({}, { rows: [row(disabled, 'card-1', 1)] })).toMatchObject({ detail: 'disabled' });
    expect(refusalOf({}, { rows: [] })).toMatchObject({ code: 'VENDOR_NOT_AVAILABLE', detail: 'no_vendor_configured' });
  });
});

describe('what is not there', () => {
  test.each([
    ['a bare model', { model: 'smal' }, 'There is no model "smal". Did you mean small?'],
    ['a model of a vendor', { model: 'acme/smal' }, 'There is no model "smal" at acme. Did you mean acme/small?'],
    [
      'a model beside a vendor',
      { model: 'wan', vendor: 'acme' },
      'There is no model "wan" at acme. There are acme/grand, acme/small.',
    ],
    [
      'a text before the slash that is no vendor',
      { model: 'acne/small' },
      'There is no model "acne/small". Did you mean acme/small?',
    ],
    [
      'a model whose time is over',
      { model: 'cosa/old' },
      'There is no model "old" at cosa. There are cosa/small, cosa/grand.',
    ],
  ])('%s: 404 MODEL_NOT_FOUND names what is near', (_name, fields, message) => {
    expect(refusalOf(fields)).toMatchObject({ code: 'MODEL_NOT_FOUND', param: 'model', message });
  });

  test.each([
    ['an unknown vendor', { vendor: 'zeta' }],
    ['a vendor that serves something else', { vendor: 'acme', capability: 'video.extend' }],
  ])('%s: 400 VENDOR_NOT_AVAILABLE', (_name, fields) => {
    const market2 = { rows: [...rows, row(bolt, 'x', 1, { serves: ['video.extend'] })] };
    expect(refusalOf(fields, market2)).toMatchObject({ code: 'VENDOR_NOT_AVAILABLE', param: 'vendor' });
  });

  test('two vendors that differ: 400 INVALID_REQUEST', () => {
    expect(refusalOf({ model: 'acme/small', vendor: 'bolt' })).toMatchObject({
      code: 'INVALID_REQUEST',
      param: 'vendor',
    });
  });
});

describe('what a model cannot do', () => {
  const unable = ({ id, vendor: { id: of } }: ModelRow) => (id === 'grand' && of === 'acme' ? null : 'too short');

  test('it is no candidate for', () => {
    expect(chainOf({ unable })).toEqual(['acme/grand']);
  });

  test('is told of every model that may be asked, when none can', () => {
    const choice = choose({ ...wish, model: 'small', unable }, market);
    expect(choice.kind).toBe('unable');
    const told = choice.kind === 'unable' ? choice.models.map((each) => [nameOf(each.row), each.why]) : [];
    expect(told).toEqual([
      ['acme/small', 'too short'],
      ['bolt/small', 'too short'],
      ['cosa/small', 'too short'],
    ]);
  });
});
