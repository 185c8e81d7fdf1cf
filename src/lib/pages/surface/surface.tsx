import { Banners, Header, Headline, StopBar, StopState } from '../document.tsx';
import { MapView } from '../map/map-view.tsx';
import type { Props } from '../ui.ts';
import { Orders } from './orders.tsx';
import { Sheet } from './sheet.tsx';
import { Battery, Values } from './values.tsx';

/** The operator surface, for the staff at the tablet: left where the robot is, right what can be done. */
export function Surface(props: Props) {
  const { state, viewer, ui, t, f } = props;
  return (
    <div class="surface" data-stop={state.stop.latched ? 'latched' : 'free'} data-silent={ui.isSilent ? '' : undefined}>
      <Header site={state.site.name} kind="surface" t={t} viewer={viewer}>
        <Battery {...props} />
        <time class="clock">{ui.isSilent ? '' : f.clock(state.time)}</time>
      </Header>
      <Banners t={t} viewer={viewer} />
      <main>
        <div class="left">
          <MapView {...props} />
          <Values {...props} />
        </div>
        <div class="right">
          <Headline {...props} />
          <StopState {...props} />
          <Contact {...props} />
          <Orders {...props} />
        </div>
        <Sheet {...props} />
      </main>
      {!viewer.readOnly && (
        <footer>
          <Progress {...props} />
          <StopBar {...props} />
        </footer>
      )}
      {viewer.readOnly && <Progress {...props} />}
    </div>
  );
}

/** Whom staff call while the robot does not drive. */
function Contact({ state, t }: Props) {
  const { contact } = state.site;
  if (contact === null || state.headline.level !== 'bad') return null;
  return <p class="contact">{t.ui.call(contact.name, contact.phone)}</p>;
}

/** The running drive, and its end without a latched stop. */
function Progress({ state, viewer, ui, t, f }: Props) {
  const { run } = state;
  const isRunning = run?.state === 'running' && !ui.isSilent;
  return (
    <div class="progress">
      {run !== null && !ui.isSilent && (
        <p>
          {t.run(run, f)}
          {isRunning && run.kind === 'tour' && <progress max={run.stations.length} value={run.at} />}
        </p>
      )}
      {isRunning && !viewer.readOnly && run.kind !== 'trial' && run.kind !== 'order' && (
        <form
          method="post"
          action="/api/fahrt/ende"
          onSubmit={(event) => {
            if (ui.act === null) return;
            event.preventDefault();
            ui.act.endRun();
          }}
        >
          <button type="submit">{t.ui.endRun}</button>
        </form>
      )}
    </div>
  );
}
