import { type Markup, markup, type Part } from '../../markup/index.ts';
import type { LiveKey } from './live-texts.ts';
import type { PageView, TextKey } from './view.ts';

export interface PageFrame {
  readonly title: string;
  /** Name of the site. */
  readonly site: string;
  readonly current: 'surface' | 'service' | 'sign-in' | 'refused' | 'support';
  /** Omits the parts that the read-only socket refuses. */
  readonly readOnly: boolean;
  /** Present on pages that show live values. */
  readonly view?: PageView;
  readonly body: Part;
}

/** STOPP: on every page of the full socket, always in view and never disabled. */
export const stopForm = markup`<form class="stop-form" method="post" action="/api/stopp"><button class="stop-button">STOPP</button></form>`;

/** A complete page. Without script it reloads every few seconds. */
export function page({ title, site, current, readOnly, view, body }: PageFrame): Markup {
  const link = (href: string, key: PageFrame['current'], text: string) =>
    markup`<a href="${href}"${current === key ? markup` aria-current="page"` : null}>${text}</a>`;
  return markup`<!doctype html>
<html lang="de">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} – ${site}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/assets/style.css">
${view ? markup`<noscript><meta http-equiv="refresh" content="5"></noscript>\n<script type="module" src="/assets/live.js"></script>` : null}
</head>
<body${view ? flags(view) : null} data-page="${current}">
<header>
<strong>${site}</strong>
<nav>${link('/', 'surface', 'Bedienung')} ${link('/service', 'service', 'Technik')} ${
    readOnly ? null : link('/anmeldung', 'sign-in', 'Anmeldung')
  }</nav>
</header>
${view ? markup`<p class="outdated">Keine Verbindung zum Gateway: Alle Werte sind veraltet. Ob STOPP noch wirkt, ist ungewiss – im Zweifel den Not-Halt am Roboter drücken.</p>` : null}
${readOnly || current === 'surface' ? null : markup`<div class="stop-bar">${stopForm}</div>`}
${readOnly ? markup`<p class="notice">Nur-Lese-Ansicht: Hier kann nichts ausgelöst werden.</p>` : null}
<main>
${body}
</main>
</body>
</html>
`;
}

function flags({ flags }: PageView): Markup[] {
  return Object.entries(flags).map(([name, value]) => markup` data-${name}="${value}"`);
}

/** A text that live events update in place. */
export function live(view: PageView, key: TextKey): Markup {
  return markup`<span data-live="${key}">${view.texts[key] ?? ''}</span>`;
}

/**
 * A value with the reason why it is not reliable, if there is one. The reason precedes the value, so that a screen
 * reader reads it first; the style sheet strikes the value out.
 */
export function liveValue(view: PageView, key: LiveKey): Markup {
  return markup`<span class="doubt" data-live="${key}.doubt">${view.texts[`${key}.doubt`]}</span> <span class="value" data-live="${key}">${view.texts[key]}</span>`;
}

/** The headline and its reasons. */
export function headlineBlock(view: PageView): Markup {
  return markup`<h1 aria-live="polite">${live(view, 'headline')}</h1>
<p class="lines why">${live(view, 'headline.why')}</p>`;
}
