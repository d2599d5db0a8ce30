// Types of libraries that ship none: only the parts in use.
declare module 'pdfmake' {
  const pdfmake: {
    readonly virtualfs: { writeFileSync(name: string, bytes: Uint8Array): void };
    setUrlAccessPolicy(allows: (url: string) => boolean): void;
    setLocalAccessPolicy(allows: (path: string) => boolean): void;
    setTableLayouts(layouts: object): void;
    setFonts(fonts: object): void;
    createPdf(definition: object): { getBuffer(): Promise<Buffer> };
  };
  export = pdfmake;
}

declare module 'pdfmake/js/LayoutBuilder.js' {
  const builder: { readonly default: { readonly prototype: { buildNextLine(node: object): unknown } } };
  export = builder;
}

declare module 'html-to-pdfmake' {
  function htmlToPdfmake(html: string, options: object): unknown;
  export = htmlToPdfmake;
}
