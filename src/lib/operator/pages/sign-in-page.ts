import { type Markup, markup } from '../../markup/index.ts';
import { page } from './page.ts';

export interface SignInPageOptions {
  readonly site: string;
  /** Whether this gateway has a device password at all. */
  readonly configured: boolean;
  readonly signedIn: boolean;
  /** Why the last attempt failed. */
  readonly problem?: string;
}

/** The sign-in form. */
export function signInPage({ site, configured, signedIn, problem }: SignInPageOptions): Markup {
  return page({
    title: 'Anmeldung',
    site,
    current: 'sign-in',
    readOnly: false,
    body: markup`<section>
<h1>Anmeldung</h1>
${problem === undefined ? null : markup`<p class="alarm" role="alert">${problem}</p>`}
${form(configured, signedIn)}
</section>`,
  });
}

function form(configured: boolean, signedIn: boolean): Markup {
  if (!configured) {
    return markup`<p>Auf diesem Gateway ist kein Gerätekennwort eingerichtet. Ein Techniker richtet es mit
<code>gw operator password</code> ein.</p>`;
  }
  if (signedIn) {
    return markup`<p>Sie sind angemeldet.</p>
<form method="post" action="/api/abmeldung"><button>Abmelden</button></form>
<form method="post" action="/api/abmeldung/alle"><button>Auf allen Geräten abmelden</button></form>
<p>Beendet auch die Anmeldung verlorener oder fremder Geräte. Das Kennwort bleibt dasselbe.</p>`;
  }
  return markup`<form method="post" action="/api/anmeldung">
<label for="password">Gerätekennwort</label>
<input id="password" name="password" type="password" autocomplete="current-password" maxlength="256" required>
<button>Anmelden</button>
</form>`;
}
