import { Arrival } from '../delivery/arrival.tsx';
import { Countdown } from '../delivery/countdown.tsx';
import { Banners, Header, StopBar, Truth } from '../document.tsx';
import { MapView } from '../map/map-view.tsx';
import type { Props } from '../ui.ts';
import { choiceText } from '../viewer.ts';
import { Home, Orders } from './orders.tsx';
import { Sheet } from './sheet.tsx';
import { Battery, Values } from './values.tsx';

/** The operator surface, for the staff at the tablet: left where the robot is, right what can be done. Only the list scrolls. */
export function Surface(props: Props) {
  const { state, viewer, ui, t } = props;
  return (
    <div class="surface" data-stop={state.stop.latched ? 'latched' : 'free'} data-silent={ui.isSilent ? '' : undefined}>
      <Header site={state.site.title ?? state.site.name} kind="surface" t={t} viewer={viewer}>
        <Battery {...props} />
        <time class="clock">{ui.isSilent ? '' : state.clock}</time>
      </Header>
      <Banners t={t} viewer={viewer} />
      <Truth {...props}>
        <Contact {...props} />
      </Truth>
      <Countdown {...props} />
      <main>
        <div class="content">
          <div class="left">
            <MapView {...props} />
            <Values {...props} />
          </div>
          <div class="right">
            <Arrival {...props} />
            <Orders {...props} />
          </div>
        </div>
        <Sheet {...props} />
      </main>
      <footer>
        <Progress {...props} />
        {!viewer.readOnly && (
          <div class="end">
            <Home {...props} />
            <StopBar {...props} />
          </div>
        )}
      </footer>
    </div>
  );
}

/** Whom staff call while the robot does not drive; not while it starts, which only takes its time. */
function Contact({ state, t }: Props) {
  const { site, headline, stop, failed } = state;
  const { contact } = site;
  const isWaiting = headline.notes.some(({ code }) => code === 'robot-starting' || code === 'link-starting');
  const isFor = failed !== null || (headline.level === 'bad' && (stop.latched || !isWaiting));
  if (contact === null || !isFor) return null;
  return <p class="contact">{t.ui.call(contact.name, contact.phone)}</p>;
}

/** The running drive, its pause, and its end without a latched stop. */
function Progress(props: Props) {
  const { state, viewer, ui, t, f } = props;
  const { run } = state;
  const isOpen = (run?.state === 'running' || run?.state === 'paused') && !ui.isSilent;
  return (
    <div class="progress">
      {run !== null && !ui.isSilent && (
        <p>
          {t.run(run, f)}
          {isOpen && run.kind === 'tour' && <progress max={run.stations.length} value={run.at} />}
        </p>
      )}
      {isOpen && !viewer.readOnly && run.kind !== 'trial' && run.kind !== 'order' && (
        <div class="acts">
          {run.kind === 'tour' && run.state === 'running' && (
            <Act path="/api/touren/lauf/pause" text={t.ui.pause} act={ui.act?.pauseTour} />
          )}
          {run.state === 'paused' && run.name !== null && <Resume {...props} tour={run.name} />}
          <Act path="/api/fahrt/ende" text={t.ui.endRun} act={ui.act?.endRun} />
        </div>
      )}
    </div>
  );
}

/** A button that makes the robot halt: by one touch, and never disabled. */
function Act({
  path,
  text,
  act,
}: {
  readonly path: string;
  readonly text: string;
  readonly act?: (() => void) | undefined;
}) {
  return (
    <form
      method="post"
      action={path}
      onSubmit={(event) => {
        if (act === undefined) return;
        event.preventDefault();
        act();
      }}
    >
      <button type="submit">{text}</button>
    </form>
  );
}

/** The first of two touches: it opens the question. */
function Resume({ ui, t, tour }: Props & { readonly tour: string }) {
  const choice = { kind: 'resume', name: tour } as const;
  return (
    <a
      class="button"
      href={`/?ziel=${encodeURIComponent(choiceText(choice))}`}
      onClick={(event) => {
        if (ui.act === null) return;
        event.preventDefault();
        ui.act.choose(choice);
      }}
    >
      {t.ui.resume}
    </a>
  );
}
