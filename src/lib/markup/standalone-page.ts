import { createHash } from 'node:crypto';
import { Markup, markup } from './template.ts';

/**
 * One self-contained HTML file. Its security policy allows its own style, by digest, and data: images; no script, no
 * address. `style` is trusted CSS.
 */
export function standalonePage(page: {
  readonly lang: string;
  readonly title: string;
  readonly style: string;
  readonly body: Markup;
}): string {
  const { lang, title, style, body } = page;
  const digest = createHash('sha256').update(style).digest('base64');
  return markup`<!DOCTYPE html>
<html lang="${lang}" xmlns="http://www.w3.org/1999/xhtml">
<head>
<meta charset="utf-8"/>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'sha256-${digest}'; base-uri 'none'; form-action 'none'"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<meta name="referrer" content="no-referrer"/>
<title>${title}</title>
<link rel="icon" href="data:,"/>
<style>${new Markup(style)}</style>
</head>
<body>
${body}
</body>
</html>
`.toString();
}
