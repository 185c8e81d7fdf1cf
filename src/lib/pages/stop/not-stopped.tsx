import type { Props, StopProgress } from '../ui.ts';

/** A touch that was meant for something else must not give up. */
const GIVE_UP_AFTER_MS = 3_000;

interface NotStoppedProps extends Pick<Props, 't' | 'f'> {
  readonly stop: StopProgress | null;
  readonly giveUp: () => void;
}

/** What covers every page, all but its STOPP, while a stop that was pressed there has not been answered. */
export function NotStopped({ stop, giveUp, t, f }: NotStoppedProps) {
  const forMs = stop?.unansweredForMs ?? null;
  if (forMs === null) return null;
  return (
    <section class="not-stopped">
      <div role="alert">
        <h2>{t.ui.notStopped}</h2>
        <p>{t.ui.notStoppedPress}</p>
      </div>
      <p>{t.ui.notStoppedFor(f.seconds(forMs))}</p>
      {forMs >= GIVE_UP_AFTER_MS && (
        <button type="button" onClick={giveUp}>
          {t.ui.giveUpStop}
        </button>
      )}
    </section>
  );
}
