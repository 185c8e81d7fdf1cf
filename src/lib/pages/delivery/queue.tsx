import type { Props } from '../ui.ts';
import type { Choice } from '../viewer.ts';

/** The stations that come next, each of which a person may remove. */
export function Queue({ state, viewer, ui, t, f }: Props) {
  const queue = state.delivery?.queue ?? [];
  if (queue.length === 0) return null;
  return (
    <ol class="queue" aria-label={t.delivery.queue}>
      {queue.map(({ id, station, title }, index) => (
        <li key={id}>
          <bdi>{index === 0 ? t.delivery.next(f.named(station, title)) : f.label(station, title)}</bdi>
          {!viewer.readOnly && (
            <form
              method="post"
              action="/api/lieferung/warteschlange/entfernen"
              onSubmit={(event) => {
                if (ui.act === null) return;
                event.preventDefault();
                ui.act.removeQueued(id);
              }}
            >
              <input type="hidden" name="id" value={id} />
              <button type="submit" aria-label={t.delivery.removeStation(f.named(station, title))}>
                {t.delivery.remove}
              </button>
            </form>
          )}
        </li>
      ))}
    </ol>
  );
}

/** Whether the chosen station can be put in the queue now, as far as the page can see. */
export function mayEnqueue({ state, viewer, ui }: Props, choice: Choice): boolean {
  const isAllowed = !state.site.needsSignIn || viewer.signedIn;
  return choice.kind === 'station' && state.delivery?.isOpen === true && isAllowed && !ui.isSilent && ui.stop === null;
}

/** In the question about a station: it moves nothing. A form of its own, since it answers another question. */
export function Enqueue(props: Props & { readonly choice: Choice }) {
  const { choice, ui, t } = props;
  if (choice.kind !== 'station' || !mayEnqueue(props, choice) || ui.order !== null) return null;
  return (
    <button
      type="submit"
      class="enqueue"
      formAction="/api/lieferung/warteschlange"
      formNoValidate
      onClick={(event) => {
        if (ui.act === null) return;
        event.preventDefault();
        ui.act.enqueue(choice.name);
      }}
    >
      {t.delivery.enqueue}
    </button>
  );
}
