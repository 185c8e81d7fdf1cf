import type { PageState } from '../model.ts';
import type { Interaction } from '../ui.ts';

/** Against burn-in the page goes round in steps of a few pixels. Project decision. */
export const SHIFT_MS = 180_000;
/** What style.css keeps free around the page. */
const SHIFT_PX = 4;

/** Whether the robot or a person needs a bright page now: it drives, is stopped, or something must be seen. */
export function needsLight(
  { standing, stop, run, failed, headline, alerts, delivery }: PageState,
  ui: Pick<Interaction, 'stop'>,
): boolean {
  const isUnderWay = run?.state === 'running' || run?.state === 'paused';
  const hasAlert = alerts.value !== null && alerts.value.length > 0;
  return (
    standing !== 'stands' ||
    stop.latched ||
    ui.stop !== null ||
    isUnderWay ||
    failed !== null ||
    (delivery != null && (delivery.countdown !== null || delivery.arrival !== null)) ||
    headline.level === 'bad' ||
    hasAlert
  );
}

/** Where the page is moved to, by the number of its steps. */
export function shiftAt(step: number): { readonly x: number; readonly y: number } {
  const around = (step * Math.PI) / 4;
  return { x: Math.round(SHIFT_PX * Math.sin(around)), y: Math.round(SHIFT_PX * -Math.cos(around)) };
}
