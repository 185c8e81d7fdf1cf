import { type Markup, markup } from '../../markup/index.ts';
import type { ErrorBody } from '../http/refusal.ts';
import { page } from './page.ts';

/** The page for a refused form: the content of the JSON answer, with a link back. */
export function refusedPage(site: string, { error }: ErrorBody): Markup {
  const { code, message, tried, remedy } = error;
  const title = code === 'NOT_CONFIRMED' ? 'Noch nicht bestätigt' : 'Nicht ausgeführt';
  return page({
    title,
    site,
    current: 'refused',
    readOnly: false,
    body: markup`<section>
<h1>${title}</h1>
<p class="alarm" role="alert">${germanReasons[code] ?? message}</p>
${tried === undefined ? null : markup`<p>Versuchte Adresse: <code>${tried.address}:${tried.port ?? ''}</code></p>`}
<p><small>${code}: ${message} ${remedy ?? ''}</small></p>
${code === 'NOT_SIGNED_IN' ? markup`<p><a class="button" href="/anmeldung">Anmelden</a></p>` : null}
<p><a class="button" href="/">Zurück zur Bedienung</a></p>
</section>`,
  });
}

const germanReasons: Readonly<Record<string, string>> = {
  CHASSIS_NOT_CONNECTED: 'Der Roboter ist nicht verbunden (not connected).',
  CHASSIS_BOOTING: 'Der Roboter startet noch.',
  MOTION_STOPPED: 'Der Stopp ist gesetzt. Erst muss er aufgehoben werden.',
  MOTION_REFUSED: 'Der Roboter darf jetzt nicht fahren.',
  TOUR_RUNNING: 'Es fährt schon eine Tour.',
  TOUR_UNKNOWN: 'Diese Tour gibt es nicht.',
  STATION_UNKNOWN: 'Diese Station steht nicht in der Standortdatei.',
  NOT_CONFIRMED: 'Angefordert, aber noch nicht bestätigt. Den Stand zeigt die Seite „Technik“.',
  NOT_SIGNED_IN: 'Dafür ist eine Anmeldung erforderlich.',
};
