import { type Markup, markup } from '../../markup/index.ts';
import type { Site } from '../../site/index.ts';
import type { GatewayHealth } from '../health.ts';
import type { NeighboursView } from '../model.ts';
import type { LiveKey } from './live-texts.ts';
import { spanText } from './number-text.ts';
import { headlineBlock, live, liveValue, page } from './page.ts';
import type { PageView } from './view.ts';

export interface ServicePageOptions {
  readonly site: Site;
  readonly view: PageView;
  readonly health: GatewayHealth;
  readonly neighbours: NeighboursView;
  readonly readOnly: boolean;
}

const liveRows: readonly (readonly [LiveKey, string])[] = [
  ['pose', 'Position'],
  ['heading', 'Ausrichtung'],
  ['planning', 'Fahrauftrag'],
  ['battery', 'Batterie'],
  ['wheels', 'Antrieb'],
  ['positioning', 'Ortung'],
  ['alerts', 'Störmeldungen'],
  ['map', 'Karte'],
];

/** The technician page: connection, values with their evidence, and services. */
export function servicePage({ site, view, health, neighbours, readOnly }: ServicePageOptions): Markup {
  return page({
    title: 'Technik',
    site: site.name,
    current: 'service',
    readOnly,
    view,
    body: markup`<section class="state">
${headlineBlock(view)}
<p>Versuchte Adresse: <code>${live(view, 'link.tried')}</code>, ${live(view, 'link.for')}</p>
<p>${live(view, 'link.detail')}</p>
<p class="when-running">${live(view, 'tour')}</p>
<p class="alarm when-latched">${live(view, 'stop')}</p>
</section>
${supportBanner(view, readOnly)}
<section>
<h2>Fahrgestell</h2>
<dl>
<div><dt>Verbindung</dt><dd>${live(view, 'link')}</dd></div>
<div><dt>Seriennummer, gelesen</dt><dd>${live(view, 'serial')}</dd></div>
<div><dt>Seriennummer, erwartet</dt><dd>${site.chassis.serial}</dd></div>
<div><dt>Modell</dt><dd>${live(view, 'model')}</dd></div>
<div><dt>Software</dt><dd>${live(view, 'software')}</dd></div>
<div><dt>Einheit von /tracked_pose</dt><dd>${live(view, 'pose-unit')}</dd></div>
<div><dt>Beanstandungen</dt><dd class="lines">${live(view, 'complaints')}</dd></div>
</dl>
</section>
<section>
<h2>Werte</h2>
<div class="scroll"><table>
<thead><tr><th>Größe</th><th>Wert</th><th>Alter</th><th>Beleg</th></tr></thead>
<tbody>${liveRows.map(
      ([key, title]) => markup`
<tr><th scope="row">${title}</th><td class="lines">${liveValue(view, key)}</td><td class="age">${live(view, `${key}.age`)}</td><td>${live(view, `${key}.mark`)}</td></tr>`,
    )}
</tbody></table></div>
</section>
<section>
<h2>Bewegung</h2>
<dl>
<div><dt>Fahrfreigabe</dt><dd class="lines">${live(view, 'gate')} <small lang="en">${live(view, 'gate.reasons')}</small></dd></div>
<div><dt>Stopp</dt><dd>${live(view, 'stop')} <small>${live(view, 'stop.by')}</small></dd></div>
<div><dt>Fahrt</dt><dd>${live(view, 'tour')}</dd></div>
</dl>
</section>
<section>
<h2>Gateway</h2>
<p>Gesamtzustand: ${live(view, 'overall')}</p>
<p>${live(view, 'gateway')}</p>
<dl>
<div><dt>Ordner</dt><dd class="lines">${live(view, 'folders')}</dd></div>
<div><dt>Nachweise</dt><dd>${live(view, 'evidence')}</dd></div>
</dl>
<div class="scroll"><table>
<thead><tr><th>Dienst</th><th>Zustand</th><th>Neustarts</th><th>Näheres</th></tr></thead>
<tbody>${health.services.map(
      ({ name }) => markup`
<tr><th scope="row">${name}</th><td>${live(view, `service.${name}.status`)}</td><td data-label="Neustarts: ">${live(view, `service.${name}.restarts`)}</td><td>${live(view, `service.${name}.detail`)}</td></tr>`,
    )}
</tbody></table></div>
<h3>Andere Roboter <small>(Stand beim Laden der Seite)</small></h3>
<p>${neighboursText(site, neighbours)}</p>
${neighbours.robots.map(
  ({ serial, address, presence, ageMs, conflictWith }) =>
    markup`<p>${serial}: ${presenceWord[presence]}, ${address}, vor ${spanText(ageMs)}${
      conflictWith === null ? '' : `; auch ${conflictWith} sendet mit dieser Seriennummer`
    }</p>\n`,
)}
</section>
<section>
<h2>Cloud</h2>
<dl>
<div><dt>Verbindung</dt><dd class="lines">${live(view, 'cloud')}</dd></div>
<div><dt>Zuletzt fehlgeschlagen</dt><dd class="lines">${live(view, 'cloud.failures')}</dd></div>
<div><dt>Abhilfe</dt><dd class="lines" lang="en">${live(view, 'cloud.remedy')}</dd></div>
<div><dt>An die IT des Kunden</dt><dd lang="en">${live(view, 'cloud.ask')}</dd></div>
<div><dt>Abonnements</dt><dd>${live(view, 'cloud.subscriptions')}</dd></div>
<div><dt>Zertifikat</dt><dd>${live(view, 'cloud.certificate')}</dd></div>
<div><dt>Meldungen an die Cloud</dt><dd class="lines">${live(view, 'cloud.reporting')}</dd></div>
<div><dt>Ungesendete Nachrichten</dt><dd class="lines">${live(view, 'cloud.outbox')}</dd></div>
<div><dt>Verworfene Nachrichten</dt><dd class="lines">${live(view, 'cloud.discarded')}</dd></div>
<div><dt>Stopp aus der Cloud</dt><dd>${live(view, 'cloud.stop')}</dd></div>
<div><dt>Version aus der Cloud</dt><dd class="lines">${live(view, 'cloud.release')}</dd></div>
<div><dt>Archive für die Cloud</dt><dd class="lines">${live(view, 'cloud.uploads')}</dd></div>
</dl>
</section>
<section>
<h2>Fernwartung</h2>
<dl>
<div><dt>Zustand</dt><dd class="lines">${live(view, 'support')} <small lang="en">${live(view, 'support.detail')}</small></dd></div>
<div><dt>Zuletzt beendet</dt><dd>${live(view, 'support.ended')}</dd></div>
<div><dt>Zuletzt abgelehnt</dt><dd>${live(view, 'support.refused')}</dd></div>
<div><dt>Aufzeichnungen</dt><dd>${live(view, 'support.records')}</dd></div>
</dl>
</section>`,
  });
}

/** A running session of remote support, which anyone at the robot may end. Hidden by the style sheet while none runs. */
function supportBanner(view: PageView, readOnly: boolean): Markup {
  return markup`<section class="support when-support">
<h2 aria-live="polite">Fernwartung: ${live(view, 'support.title')}</h2>
<p>${live(view, 'support.state')}</p>
<dl>
<div><dt>Seit</dt><dd>${live(view, 'support.since')}</dd></div>
<div><dt>Endet spätestens</dt><dd>${live(view, 'support.until')}</dd></div>
<div><dt>Dienste</dt><dd>${live(view, 'support.services')}</dd></div>
<div><dt>Offene Verbindungen</dt><dd>${live(view, 'support.open')}</dd></div>
</dl>
${
  readOnly
    ? markup`<p>Beenden kann die Fernwartung jeder am Roboter, auf der Seite „Technik“ des Tablets.</p>`
    : markup`<form method="post" action="/api/wartung/sitzung/ende"><button>Fernwartung beenden <small>trennt nur den Fernzugriff; den Roboter betrifft es nicht</small></button></form>`
}
</section>`;
}

function neighboursText({ fleet }: Site, view: NeighboursView): string {
  const { status, detail, robots, isTableFull, ownSerialFrom } = view;
  if (fleet === undefined) return 'Nicht geprüft: In der Standortdatei steht kein Schlüssel dafür (fleet.keyFile).';
  if (status === 'not-checked') return `Nicht geprüft: ${detail}`;
  const count = (presence: keyof typeof presenceWord) => robots.filter((robot) => robot.presence === presence).length;
  return [
    `${count('alive')} aktiv, ${count('late')} verspätet, ${count('gone')} ohne Signal.`,
    ...(ownSerialFrom === null ? [] : [`Auch ${ownSerialFrom} sendet mit der Seriennummer dieses Roboters.`]),
    ...(isTableFull === true
      ? ['Die Tabelle der Seriennummern ist voll: Von unbekannten Robotern werden nur die aus fleet.robots empfangen.']
      : []),
  ].join(' ');
}

const presenceWord = { alive: 'aktiv', late: 'verspätet', gone: 'kein Signal mehr' } as const;
