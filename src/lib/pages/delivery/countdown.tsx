import type { Props } from '../ui.ts';

/** The movement that is about to begin by itself, on every page of the robot: one touch ends it. */
export function Countdown({ state, viewer, ui, t, f }: Props) {
  const countdown = state.delivery?.countdown;
  if (countdown == null || ui.isSilent) return null;
  const { id, kind, station, title, leftMs } = countdown;
  return (
    <section class="countdown" aria-labelledby="countdown-title">
      <p role="alert">
        <strong id="countdown-title">
          {t.delivery.begins[kind](station === null ? null : f.named(station, title))}
        </strong>
      </p>
      {/* Not announced each second. */}
      <p class="seconds" aria-hidden="true">
        {f.number(Math.ceil(leftMs / 1_000), 0)}
      </p>
      {!viewer.readOnly && (
        <form
          method="post"
          action="/api/lieferung/ansage/ende"
          onSubmit={(event) => {
            if (ui.act === null) return;
            event.preventDefault();
            ui.act.endCountdown(id);
          }}
        >
          <input type="hidden" name="id" value={id} />
          <button type="submit">{t.delivery.endCountdown}</button>
        </form>
      )}
    </section>
  );
}
