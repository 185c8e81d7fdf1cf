import { type Markup, markup } from '../../markup/index.ts';
import type { Site } from '../../site/index.ts';
import { live, page } from './page.ts';
import type { PageView } from './view.ts';

export interface SurfaceOptions {
  readonly site: Pick<Site, 'name' | 'tours'>;
  readonly view: PageView;
  readonly readOnly: boolean;
  readonly signedIn: boolean;
}

/** The operator surface, for the people who work with the robot. */
export function surfacePage({ site, view, readOnly, signedIn }: SurfaceOptions): Markup {
  return page({
    title: 'Bedienung',
    site: site.name,
    current: 'surface',
    readOnly,
    view,
    body: markup`<section class="state">
<h1 aria-live="polite">${live(view, 'link')}</h1>
<p><span class="when-away">Versuchte Adresse: <code>${live(view, 'link.tried')}</code>, </span>${live(view, 'link.for')}</p>
<p class="when-away">${live(view, 'link.detail')}</p>
<p class="alarm when-latched">${live(view, 'stop')}</p>
</section>
${readOnly ? null : stopForms(signedIn)}
<section>
<h2>Roboter</h2>
<dl>
<div><dt>Batterie</dt><dd>${live(view, 'battery')} <small>${live(view, 'battery.age')}</small></dd></div>
<div><dt>Position</dt><dd>${live(view, 'pose')} <small>${live(view, 'pose.age')}</small></dd></div>
<div><dt>Ortung</dt><dd>${live(view, 'positioning')} <small>${live(view, 'positioning.age')}</small></dd></div>
<div><dt>Meldungen</dt><dd class="lines">${live(view, 'alerts')} <small>${live(view, 'alerts.age')}</small></dd></div>
</dl>
</section>
<section>
<h2>Touren</h2>
<p>${live(view, 'tour')}</p>
<p class="when-closed lines">${live(view, 'gate')}</p>
${readOnly ? null : tourForms(site)}
</section>`,
  });
}

function stopForms(signedIn: boolean): Markup {
  return markup`<section class="stop">
<form method="post" action="/api/stopp"><button class="stop-button">STOPP</button></form>
<div class="when-latched">
${
  signedIn
    ? markup`<form method="post" action="/api/stopp/freigabe"><button>Stopp aufheben</button></form>`
    : markup`<p>Aufheben darf den Stopp nur, wer <a href="/anmeldung">angemeldet</a> ist.</p>`
}
</div>
</section>`;
}

function tourForms({ tours }: Pick<Site, 'tours'>): Markup {
  const names = Object.entries(tours);
  if (names.length === 0) return markup`<p>In der Standortdatei steht keine Tour.</p>`;
  return markup`<div class="tours">${names.map(
    ([name, { stations }]) => markup`<form method="post" action="/api/touren/lauf">
<button name="tour" value="${name}">${name} <small>${stations.join(' → ')}</small></button>
</form>`,
  )}</div>`;
}
