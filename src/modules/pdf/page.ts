// Page sizes: names on the wire, points inside (72 to an inch).

export const MM = 72 / 25.4;

export const pageSizes = ['A3', 'A4', 'A5', 'Letter', 'Legal', 'Tabloid'] as const;
export type PageSizeName = (typeof pageSizes)[number];

/** Width and height in points, upright. */
const points: Readonly<Record<PageSizeName, readonly [number, number]>> = {
  A3: [841.89, 1190.55],
  A4: [595.28, 841.89],
  A5: [419.53, 595.28],
  Letter: [612, 792],
  Legal: [612, 1008],
  Tabloid: [792, 1224],
};

export interface PageFormat {
  readonly width: number;
  readonly height: number;
  readonly margins: Sides;
}

export interface Sides {
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
  readonly left: number;
}

export const MARGIN_MM = 20;

/** Margins in millimetres. */
export function pageFormat(size: PageSizeName, landscape: boolean, marginsMm: Partial<Sides>): PageFormat {
  const [short, long] = points[size];
  const mm = (side: keyof Sides) => (marginsMm[side] ?? MARGIN_MM) * MM;
  return {
    width: landscape ? long : short,
    height: landscape ? short : long,
    margins: { top: mm('top'), right: mm('right'), bottom: mm('bottom'), left: mm('left') },
  };
}

const pointsPer: Readonly<Record<string, number>> = { in: 72, pt: 1, px: 0.75, mm: MM, cm: 10 * MM, pc: 12 };

/** Points of `8.5`, in inches, or of `210mm`; null: it is no length. */
export function pointsOf(length: string): number | null {
  const [, number, unit = 'in'] = /^\s*(\d{1,6}(?:\.\d{1,10})?)\s*(in|pt|px|mm|cm|pc)?\s*$/.exec(length) ?? [];
  return number === undefined ? null : Number(number) * (pointsPer[unit] as number);
}
