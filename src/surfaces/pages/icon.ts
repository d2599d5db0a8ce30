// The icon of every page: a quarter of a circle, light on blue. It is inlined in the pages, so it costs no request.
import { Html } from '../../lib/html.ts';

export const iconSvg =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#0b62c4"/><path d="M8 24V8a16 16 0 0 1 16 16z" fill="#fff"/></svg>';

/** The icon beside the name. */
export const logo = new Html(iconSvg.replace('<svg ', '<svg aria-hidden="true" '));

export const iconLink = new Html(`<link rel="icon" href="data:image/svg+xml,${encodeURIComponent(iconSvg)}">`);
