import type { ComponentChildren } from 'preact';
import { type Title, titleIn } from '../text/index.ts';
import type { PageState } from './model.ts';
import { noteText } from './texts/catalogue.ts';
import type { Props } from './ui.ts';

export type PageKind = 'surface' | 'service' | 'media' | 'sign-in' | 'notice';

/** The root of a page, which the browser hydrates. */
export const ROOT_ID = 'page';
/** The state that it was rendered with, as JSON: data, which no content security policy takes for a script. */
export const STATE_ID = 'page-state';

interface DocumentProps extends Pick<Props, 't' | 'viewer'> {
  readonly title: string;
  readonly site: Title;
  readonly kind: PageKind;
  /** What the script of the page needs; null: the page has none. */
  readonly data: string | null;
  /** A question is open on it: without script it closes before the page would count as outdated. */
  readonly isAsking?: boolean;
  readonly children: ComponentChildren;
}

/** A complete page. Without script it reloads every few seconds, unless it holds a form to fill in. */
export function Document({ title, site, kind, data, isAsking = false, viewer, children }: DocumentProps) {
  return (
    <html lang={viewer.language}>
      <head>
        <meta charset="utf-8" />
        {/* A keyboard on the screen makes the page smaller, so that STOPP stays above it. */}
        <meta name="viewport" content="width=device-width, initial-scale=1, interactive-widget=resizes-content" />
        <meta name="color-scheme" content="light dark" />
        <title>{`${title} – ${titleIn(site, viewer.language)}`}</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href="/assets/style.css" />
        {(kind === 'surface' || kind === 'service') && (
          <noscript>
            <meta http-equiv="refresh" content={isAsking ? '10; url=/' : '5'} />
          </noscript>
        )}
        {data !== null && <script type="module" src="/assets/main.js" />}
      </head>
      <body>
        <div id={ROOT_ID} data-page={kind}>
          {children}
        </div>
        {data !== null && (
          <script
            id={STATE_ID}
            type="application/json"
            dangerouslySetInnerHTML={{ __html: data.replaceAll('<', '\\u003c') }}
          />
        )}
      </body>
    </html>
  );
}

interface HeaderProps extends Pick<Props, 't' | 'viewer'> {
  readonly site: Title;
  readonly kind: PageKind;
  readonly children?: ComponentChildren;
}

export function Header({ site, kind, t, viewer, children }: HeaderProps) {
  const link = (href: string, of: PageKind, text: string) => (
    <a href={href} aria-current={kind === of ? 'page' : undefined}>
      {text}
    </a>
  );
  const other = viewer.language === 'de' ? 'en' : 'de';
  return (
    <header>
      <strong class="site" dir="auto">
        {titleIn(site, viewer.language)}
      </strong>
      {children}
      <nav>
        {link('/', 'surface', t.ui.surface)}
        {link('/service', 'service', t.ui.service)}
        {!viewer.readOnly && link('/medien', 'media', t.media.title)}
        {!viewer.readOnly && link('/anmeldung', 'sign-in', viewer.signedIn ? t.ui.signedIn : t.ui.signIn)}
        <a
          href={`?sprache=${other}`}
          lang={other}
          hreflang={other}
          aria-label={`${other.toUpperCase()}, ${t.ui.language}: ${t.ui.otherLanguage}`}
        >
          {other.toUpperCase()}
        </a>
      </nav>
    </header>
  );
}

/** What covers the page while no state arrives. Present from the start: a page that has lost its gateway can load nothing. */
export function Banners({ t, viewer }: Pick<Props, 't' | 'viewer'>) {
  return (
    <>
      <p class="outdated" role="alert">
        {t.ui.outdated}
      </p>
      {viewer.readOnly && <p class="notice">{t.ui.readOnly}</p>}
    </>
  );
}

/** States in which a person has to press the emergency stop on the robot. */
const alarms: ReadonlySet<PageState['headline']['code']> = new Set(['does-not-stop', 'still-moves']);

interface TruthProps extends Props {
  readonly children?: ComponentChildren;
  /** For the technician: with the words of the gateway. */
  readonly isTechnical?: boolean;
}

/** What is in view on every page of the robot, however far the rest is scrolled: its state, and a stop that is set. */
export function Truth({ children, isTechnical = false, ...props }: TruthProps) {
  return (
    <div class="truth">
      <Headline {...props} />
      <div class="aside">
        <StopState {...props} />
        <FailedRun {...props} isTechnical={isTechnical} />
        {children}
      </div>
    </div>
  );
}

/** The headline in one line, and the reasons why it is not green. What a person must do at once does not scroll with them. */
function Headline({ state, ui, t, f }: Props) {
  const { code, level, notes } = state.headline;
  // Until a state shows the stop that was pressed here, no state holds.
  if (ui.stop !== null && (ui.stop.unansweredForMs !== null || !state.stop.latched)) {
    const isFailing = ui.stop.unansweredForMs !== null;
    return (
      <div class="headline" data-level={isFailing ? 'bad' : 'attention'} data-alarm={isFailing ? '' : undefined}>
        <h1>{isFailing ? t.ui.notStopped : t.ui.stopUnderWay}</h1>
      </div>
    );
  }
  const isAlarm = !ui.isSilent && alarms.has(code);
  // The set stop has its own place beside it.
  const others = notes.filter((note) => note.code !== 'stop-latched');
  const first = isAlarm ? others.shift() : undefined;
  return (
    <div class="headline" data-level={ui.isSilent ? 'bad' : level} data-alarm={isAlarm ? '' : undefined}>
      <h1 aria-live="polite">{ui.isSilent ? t.ui.noGateway : t.headline[code](state, f)}</h1>
      {first && <p class="press">{noteText(first, t, f)}</p>}
      {!ui.isSilent && others.length > 0 && (
        <ul class="why">
          {others.map((note) => (
            <li key={JSON.stringify(note)}>{noteText(note, t, f)}</li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** How the last run that failed did so, and what to do next, until a person has seen it. */
function FailedRun({ state, viewer, ui, t, f, isTechnical }: Props & { readonly isTechnical: boolean }) {
  const { failed } = state;
  if (failed === null || ui.isSilent) return null;
  const { id, failure, earlier } = failed;
  return (
    <div class="failed">
      <p>
        <strong>{t.failed(failed, f)}.</strong> {t.ui.failedNext} {earlier > 0 && t.failedEarlier(earlier)}{' '}
        {isTechnical && failure.technical !== null && (
          <small lang="en" class="technical">
            {failure.technical}
          </small>
        )}
      </p>
      {!viewer.readOnly && (
        <form
          method="post"
          action="/api/fahrt/gesehen"
          onSubmit={(event) => {
            if (ui.act === null) return;
            event.preventDefault();
            ui.act.runSeen(id);
          }}
        >
          <input type="hidden" name="id" value={id} />
          <button type="submit">{t.ui.failedSeen}</button>
        </form>
      )}
    </div>
  );
}

/** The button alone, for pages that show no state of the robot. */
export function StopForm({ t }: Pick<Props, 't'>) {
  return (
    <form class="stop" method="post" action="/api/stopp">
      <button type="submit" class="stop-button">
        {t.ui.stop}
      </button>
    </form>
  );
}

/** Large, always in the same place, never disabled; beside it, whether its path is alive and what became of it. */
export function StopBar(props: Props) {
  const { ui, t } = props;
  return (
    <form
      class="stop"
      method="post"
      action="/api/stopp"
      onSubmit={(event) => {
        if (ui.act === null) return;
        event.preventDefault();
        ui.act.stop();
      }}
    >
      <button type="submit" class="stop-button">
        {t.ui.stop}
      </button>
      <StopPath {...props} />
    </form>
  );
}

function StopPath({ state, ui, t, f }: Props) {
  const { chassis, cancel } = state.stopPath;
  const isAlive = !ui.isSilent && chassis === 'ready';
  const stop = ui.stop;
  if (stop !== null) {
    if (stop.unansweredForMs !== null)
      return (
        <p class="stop-path dead" role="status">
          {t.ui.stopFailed}
        </p>
      );
    const steps = [
      t.ui.stopSent,
      ...(stop.acknowledgedAfterMs === null ? [] : [`${t.ui.stopAcknowledged} ${f.span(stop.acknowledgedAfterMs)}`]),
      ...(stop.acknowledgedAfterMs === null || stop.saved === true
        ? []
        : [t.words[stop.saved === 'pending' ? 'being-saved' : 'not-saved']]),
      ...(stop.standingAfterMs === null ? [] : [`${t.ui.stopStanding} ${f.span(stop.standingAfterMs)}`]),
    ];
    return (
      <p class={`stop-path${isAlive ? '' : ' dead'}`} role="status">
        {isAlive ? steps.join(' · ') : t.ui.stopPathAway}
      </p>
    );
  }
  return (
    <p class={`stop-path${isAlive ? '' : ' dead'}`} role="status">
      <span class="lamps">
        <Dot is={!ui.isSilent} text={t.ui.gateway} /> <Dot is={isAlive} text={t.ui.robot} />{' '}
        {isAlive && cancel === 'awaited' ? (
          <span class="dot busy">{`◐ ${t.ui.cancelRuns}`}</span>
        ) : (
          <Dot is={isAlive && cancel === 'ready'} text={t.ui.cancel} />
        )}
      </span>{' '}
      {isAlive ? t.ui.stopPathReady : t.ui.stopPathAway}
    </p>
  );
}

function Dot({ is, text }: { readonly is: boolean; readonly text: string }) {
  return (
    <span class={is ? 'dot alive' : 'dot'}>
      {is ? '●' : '○'} {text}
    </span>
  );
}

/** The latched stop: by whom, since when, and how it is cleared. */
function StopState({ state, viewer, ui, t, f }: Props) {
  const { stop } = state;
  if (!stop.latched || ui.isSilent) return null;
  const by = [
    stop.origin === null || stop.origin === 'other' ? null : t.origins[stop.origin],
    stop.by,
    stop.since === null ? null : f.time(stop.since),
  ]
    .filter((part) => part !== null)
    .join(', ');
  return (
    <div class="latched">
      <p>
        {[
          t.notes['stop-latched']({ code: 'stop-latched' }, f),
          stop.reason === null || stop.reason === t.ui.stop ? '' : `„${stop.reason}“`,
        ].join(' ')}{' '}
        <small>{by}</small>
        {stop.saved !== true && (
          <strong class="alarm">{t.words[stop.saved === 'pending' ? 'being-saved' : 'not-saved']}</strong>
        )}
      </p>
      {!viewer.readOnly &&
        (viewer.signedIn ? (
          <form method="post" action="/api/stopp/freigabe">
            <button type="submit" class="confirms">
              {t.ui.clearStop}
            </button>
          </form>
        ) : (
          <a class="button" href="/anmeldung">
            {t.ui.clearNeedsSignIn}
          </a>
        ))}
    </div>
  );
}
