import { type Markup, markup } from '../../markup/index.ts';
import type { SupportView } from '../../tunnel/index.ts';
import { page } from './page.ts';

export interface SupportEndedPageOptions {
  /** Name of the site. */
  readonly site: string;
  /** Whether a session was ended; false: none ran. */
  readonly ended: boolean;
  /** The state afterwards: the cloud may have opened another session. */
  readonly view: Pick<SupportView, 'status'>;
}

/** The confirmation of the form with which a person on site ends remote support. */
export function supportEndedPage({ site, ended, view }: SupportEndedPageOptions): Markup {
  const isRunning = view.status === 'running';
  return page({
    title: isRunning ? 'Fernwartung läuft' : 'Fernwartung beendet',
    site,
    current: 'support',
    readOnly: false,
    body: markup`<section>
<h1>${headline(ended, isRunning)}</h1>
<p role="status">${sentence(ended)}</p>
${isRunning ? markup`<p class="alarm">Inzwischen läuft eine andere Sitzung. Auf der Seite „Technik“ kann auch sie beendet werden.</p>` : null}
<p><a class="button" href="/service">Zurück zur Technik</a></p>
</section>`,
  });
}

function headline(ended: boolean, isRunning: boolean): string {
  if (isRunning) return 'Fernwartung läuft wieder';
  return ended ? 'Fernwartung beendet' : 'Es läuft keine Fernwartung';
}

function sentence(ended: boolean): string {
  return ended
    ? 'Die Sitzung ist beendet, ihre Verbindungen sind getrennt. Aus der Cloud kann eine neue geöffnet werden.'
    : 'Es lief keine Sitzung, also war nichts zu beenden.';
}
