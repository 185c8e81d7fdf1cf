import { type Markup, markup } from '../../markup/index.ts';
import type { Site } from '../../site/index.ts';
import type { LiveKey } from './live-texts.ts';
import { headlineBlock, live, liveValue, page, stopForm } from './page.ts';
import type { PageView } from './view.ts';

export interface SurfaceOptions {
  readonly site: Pick<Site, 'name' | 'tours' | 'operator'>;
  readonly view: PageView;
  readonly readOnly: boolean;
  readonly signedIn: boolean;
}

const rows: readonly (readonly [LiveKey, string])[] = [
  ['battery', 'Batterie'],
  ['pose', 'Position'],
  ['heading', 'Ausrichtung'],
  ['positioning', 'Ortung'],
  ['wheels', 'Antrieb'],
  ['alerts', 'Störmeldungen'],
];

/** The operator surface, for the people who work with the robot. */
export function surfacePage({ site, view, readOnly, signedIn }: SurfaceOptions): Markup {
  return page({
    title: 'Bedienung',
    site: site.name,
    current: 'surface',
    readOnly,
    view,
    body: markup`<section class="state">
${headlineBlock(view)}
<p><span class="when-away">Versuchte Adresse: <code>${live(view, 'link.tried')}</code>, </span>${live(view, 'link.for')}</p>
<p class="when-away">${live(view, 'link.detail')}</p>
<p class="when-running">${live(view, 'tour')}</p>
<p class="alarm when-latched">${live(view, 'stop')} <small>${live(view, 'stop.by')}</small></p>
<p class="when-support">Fernwartung: ${live(view, 'support.title')} – siehe Seite <a href="/service">Technik</a>.</p>
</section>
${readOnly ? null : stopForms(signedIn)}
<section>
<h2>Roboter</h2>
<dl>
${rows.map(
  ([
    key,
    title,
  ]) => markup`<div><dt>${title}</dt><dd class="lines">${liveValue(view, key)} <small>${live(view, `${key}.age`)}</small></dd></div>
`,
)}</dl>
</section>
<section>
<h2>Touren</h2>
<p>${live(view, 'tour')}</p>
<p id="tour-why" class="lines why" aria-live="polite">${live(view, 'tour.why')}</p>
${readOnly ? null : tourForms(site, view, signedIn)}
</section>`,
  });
}

function stopForms(signedIn: boolean): Markup {
  return markup`<section class="stop">
${stopForm}
<div class="when-latched">
${
  signedIn
    ? markup`<form method="post" action="/api/stopp/freigabe"><button>Stopp aufheben</button></form>`
    : markup`<p>Aufheben darf den Stopp nur, wer <a href="/anmeldung">angemeldet</a> ist.</p>`
}
</div>
</section>`;
}

/**
 * The buttons are disabled while the gate refuses, with the reason above them. Where starting a tour needs a session,
 * others get a link to the sign-in instead of a disabled button.
 */
function tourForms({ tours, operator }: Pick<Site, 'tours' | 'operator'>, view: PageView, signedIn: boolean): Markup {
  const { flags } = view;
  const names = Object.entries(tours);
  if (names.length === 0) return markup`<p>In der Standortdatei steht keine Tour.</p>`;
  if (operator.tourNeedsSignIn && !signedIn) {
    const list = names.map(([name]) => name).join(', ');
    return markup`<p>Touren starten darf nur, wer <a href="/anmeldung">angemeldet</a> ist: ${list}.</p>`;
  }
  return markup`<div class="tours">${names.map(
    ([name, { stations }]) => markup`<form method="post" action="/api/touren/lauf">
<button name="tour" value="${name}" data-needs="go" aria-describedby="tour-why"${flags.go === 'yes' ? null : markup` disabled`}>${name} <small>${stations.join(' → ')}</small></button>
</form>`,
  )}</div>
${signedIn ? passForm(tours, view) : passHint(view)}`;
}

function passHint(view: PageView): Markup {
  return markup`<p class="when-passable">Trotz der Störmeldungen ${live(view, 'tour.alerts')} darf nur starten, wer <a href="/anmeldung">angemeldet</a> ist und sie beurteilt hat.</p>`;
}

/** To pass alerts a person enters their numbers: one touch must not be enough. Hidden while nothing can be passed. */
function passForm(tours: Site['tours'], view: PageView): Markup {
  return markup`<form class="pass when-passable" method="post" action="/api/touren/lauf">
<p>Nur diese Störmeldungen sperren die Fahrt: ${live(view, 'tour.alerts')}. Wer am Roboter steht und sie beurteilt hat, kann eine Tour trotzdem starten und bestätigt das mit ihren Nummern.</p>
<label>Tour <select name="tour">${Object.keys(tours).map((name) => markup`<option>${name}</option>`)}</select></label>
<label>Nummern der Störmeldungen <input name="although" inputmode="numeric" autocomplete="off" required></label>
<button data-needs="pass"${view.flags.pass === 'yes' ? null : markup` disabled`}>Trotz Störmeldung starten</button>
</form>`;
}
