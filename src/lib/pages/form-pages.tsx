import type { ComponentChildren } from 'preact';
import type { Title } from '../text/index.ts';
import { Document, Header, StopForm } from './document.tsx';
import { mediaRefusal } from './media/media-model.ts';
import type { PoseDraft } from './service/pose-draft.ts';
import { PoseEnd, PoseInputs } from './service/set-pose.tsx';
import type { Texts } from './texts/texts.ts';
import type { Viewer } from './viewer.ts';

/** What the pages around a form need: they show no state of the robot. */
export interface Frame {
  readonly site: Title;
  readonly viewer: Viewer;
  readonly t: Texts;
}

/** What its script needs: nothing there changes by itself, but a stop that was pressed there is tried until it is answered. */
export interface PlainPage {
  readonly kind: 'plain';
  readonly viewer: Viewer;
}

function Plain({
  site,
  viewer,
  t,
  kind,
  title,
  children,
}: Frame & { kind: 'sign-in' | 'notice'; title: string; children: ComponentChildren }) {
  return (
    <Document
      title={title}
      site={site}
      kind={kind}
      data={viewer.readOnly ? null : JSON.stringify({ kind: 'plain', viewer } satisfies PlainPage)}
      viewer={viewer}
      t={t}
    >
      <Header site={site} kind={kind} t={t} viewer={viewer} />
      <main>
        <section>
          <h1>{title}</h1>
          {children}
        </section>
      </main>
      {!viewer.readOnly && (
        <footer>
          <StopForm t={t} />
        </footer>
      )}
    </Document>
  );
}

export interface SignInProps extends Frame {
  /** Whether this gateway has a device password at all. */
  readonly isConfigured: boolean;
  /** Why the last attempt failed, as a code of the refusals; null: there was none. */
  readonly problem: string | null;
}

export function SignIn({ isConfigured, problem, ...frame }: SignInProps) {
  const { t, viewer } = frame;
  return (
    <Plain {...frame} kind="sign-in" title={t.ui.signIn}>
      {problem !== null && (
        <p class="alarm" role="alert">
          {t.refusals[problem] ?? t.ui.notPossible}
        </p>
      )}
      {!isConfigured ? (
        <p>
          {t.ui.noPassword} <code>gw operator password</code>
        </p>
      ) : viewer.signedIn ? (
        <>
          <p>{t.ui.isSignedIn}</p>
          <form method="post" action="/api/abmeldung">
            <button type="submit">{t.ui.signOut}</button>
          </form>
          <form method="post" action="/api/abmeldung/alle">
            <button type="submit">{t.ui.signOutAll}</button>
          </form>
          <p>{t.ui.signOutAllHint}</p>
        </>
      ) : (
        <form class="sign-in" method="post" action="/api/anmeldung">
          <label for="password">{t.ui.password}</label>
          <input
            id="password"
            name="password"
            type="password"
            autocomplete="current-password"
            maxLength={256}
            required
          />
          <button type="submit">{t.ui.doSignIn}</button>
        </form>
      )}
    </Plain>
  );
}

export interface RefusedProps extends Frame {
  readonly code: string;
  /** The refusal in the words of the gateway, English. */
  readonly technical: string;
  readonly tried: string | null;
  /** The page of the form. */
  readonly from: 'surface' | 'media';
}

/** The answer to a form that was refused. */
export function Refused({ code, technical, tried, from, ...frame }: RefusedProps) {
  const { t } = frame;
  return (
    <Plain {...frame} kind="notice" title={code === 'NOT_CONFIRMED' ? t.ui.notYetConfirmed : t.ui.notDone}>
      <p class="alarm" role="alert">
        {from === 'media' ? mediaRefusal(code, t) : (t.refusals[code] ?? t.ui.notPossible)}
      </p>
      {tried !== null && (
        <p>
          {t.ui.triedAddress}: <code>{tried}</code>
        </p>
      )}
      <details>
        <summary>{t.ui.technicalTitle}</summary>
        <p lang="en" class="technical">{`${code}: ${technical}`}</p>
      </details>
      {code === 'NOT_SIGNED_IN' && (
        <p>
          <a class="button" href="/anmeldung">
            {t.ui.signInLink}
          </a>
        </p>
      )}
      <p>
        <a class="button" href={from === 'media' ? '/medien' : '/'}>
          {from === 'media' ? t.media.backToMedia : t.ui.backToSurface}
        </a>
      </p>
    </Plain>
  );
}

/** The answer to a browser that asks for a page that is not there, or not on this socket. */
export function UnknownPage(frame: Frame) {
  const { t, viewer } = frame;
  return (
    <Plain {...frame} kind="notice" title={t.ui.noPage}>
      <p>{viewer.readOnly ? t.ui.noPageHere : t.ui.noPageText}</p>
      <p>
        <a class="button" href="/">
          {t.ui.toSurface}
        </a>
      </p>
    </Plain>
  );
}

export interface SupportEndedProps extends Frame {
  /** Whether a session was ended; false: none ran. */
  readonly hasEnded: boolean;
  /** Whether one runs now: the cloud may have opened another. */
  readonly isRunning: boolean;
}

export function SupportEnded({ hasEnded, isRunning, ...frame }: SupportEndedProps) {
  const { t } = frame;
  return (
    <Plain
      {...frame}
      kind="notice"
      title={isRunning ? t.ui.supportRunsAgain : hasEnded ? t.ui.supportEnded : t.ui.supportNone}
    >
      <p role="status">{hasEnded ? t.ui.supportEndedText : t.ui.supportNoneText}</p>
      {isRunning && <p class="alarm">{t.ui.supportOtherText}</p>}
      <p>
        <a class="button" href="/service">
          {t.ui.backToService}
        </a>
      </p>
    </Plain>
  );
}

export interface SetPoseProps extends Frame {
  /** What became of the pose that was sent before; 'none': this is the first form. */
  readonly order: PoseDraft['order'];
}

/** The form for the pose of the robot without a map; it does not reload while a person types. */
export function SetPoseForm({ order, ...frame }: SetPoseProps) {
  const { t } = frame;
  return (
    <Plain {...frame} kind="notice" title={t.service.setPose}>
      <PoseEnd order={order} t={t} />
      <form method="post" action="/api/pose">
        <PoseInputs t={t} fields={null} />
        <button type="submit" class="go">
          {t.service.doSetPose}
        </button>
      </form>
      <p>
        <a class="button" href="/service">
          {t.ui.backToService}
        </a>
      </p>
    </Plain>
  );
}
