import type { Props } from '../ui.ts';
import { choiceText } from '../viewer.ts';
import { Queue } from './queue.tsx';

/** The arrival that waits for a person, the queue, and why nothing begins by itself. Nothing here moves the robot by one touch. */
export function Arrival(props: Props) {
  const { state, viewer, ui, t, f } = props;
  const { delivery } = state;
  if (delivery == null || ui.isSilent) return null;
  const { arrival, queue, hold, waitsFor, isAfterRestart } = delivery;
  const isRunning = state.run?.state === 'running' || state.run?.state === 'paused';
  const isIdle = arrival === null && queue.length === 0;
  if (isIdle && hold === null && waitsFor === null && !isAfterRestart) return null;
  return (
    <section class="delivery" aria-labelledby="delivery-title" data-waits={isIdle ? undefined : ''}>
      <h2 id="delivery-title">{t.delivery.title}</h2>
      {arrival !== null && (
        <p class="arrived" role="status">
          <strong>{t.delivery.arrived(f.named(arrival.station, arrival.title))}</strong>
        </p>
      )}
      <Queue {...props} />
      {!viewer.readOnly && !isRunning && !isIdle && <Proceed {...props} />}
      {ui.deliveryRefused !== null && (
        <p class="alarm" role="alert">
          {t.refusals[ui.deliveryRefused] ?? t.ui.notPossible}
        </p>
      )}
      {waitsFor !== null && <p class="hint">{t.delivery.waits}</p>}
      {isAfterRestart && <p class="hint">{t.delivery.afterRestart}</p>}
      {hold !== null && (
        <form
          class="hold"
          method="post"
          action="/api/lieferung/automatik"
          onSubmit={(event) => {
            if (ui.act === null) return;
            event.preventDefault();
            ui.act.release();
          }}
        >
          <p>{t.delivery.held(t.delivery.causes[hold.cause])}</p>
          {!viewer.readOnly && <button type="submit">{t.delivery.release}</button>}
        </form>
      )}
    </section>
  );
}

/** With a next station the first of two touches: it opens the question. Without one it only says that the arrival is over. */
function Proceed({ state, ui, t, f }: Props) {
  const { arrival, queue } = state.delivery ?? { arrival: null, queue: [] };
  const [next] = queue;
  if (next !== undefined) {
    const choice = { kind: 'next', name: next.station, id: next.id, arrival: arrival?.id ?? null } as const;
    return (
      <a
        class="button proceed"
        href={`/?ziel=${encodeURIComponent(choiceText(choice))}`}
        onClick={(event) => {
          if (ui.act === null) return;
          event.preventDefault();
          ui.act.choose(choice);
        }}
      >
        {t.delivery.proceedTo(f.named(next.station, next.title))}
      </a>
    );
  }
  if (arrival === null) return null;
  return (
    <form
      method="post"
      action="/api/lieferung/weiter"
      onSubmit={(event) => {
        if (ui.act === null) return;
        event.preventDefault();
        ui.act.arrivalOver(arrival.id);
      }}
    >
      <input type="hidden" name="arrival" value={arrival.id} />
      <button type="submit" class="proceed">
        {t.delivery.proceed}
      </button>
    </form>
  );
}
