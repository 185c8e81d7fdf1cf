import type { PageState } from '../../pages/index.ts';
import type { Site } from '../../site/index.ts';

/** At night a touch keeps the screen bright for so long. Project decision. */
const NIGHT_DIM_MS = 60_000;

/** How the tablet treats its screen at this time of the gateway, in the gateway's time zone. */
export function screenView({ screen }: Pick<Site['operator'], 'screen'>, now: Date): PageState['screen'] {
  const { dimAfterMinutes, night, shift = false } = screen ?? {};
  const times = [
    ...(dimAfterMinutes === undefined ? [] : [dimAfterMinutes * 60_000]),
    ...(night !== undefined && isNight(night, now) ? [NIGHT_DIM_MS] : []),
  ];
  return { dimAfterMs: times.length === 0 ? null : Math.min(...times), shifts: shift };
}

function isNight({ from, to }: { readonly from: string; readonly to: string }, now: Date): boolean {
  const minutes = now.getHours() * 60 + now.getMinutes();
  const [begin, end] = [minutesOf(from), minutesOf(to)];
  return begin < end ? minutes >= begin && minutes < end : minutes >= begin || minutes < end;
}

function minutesOf(time: string): number {
  const [hours, minutes] = time.split(':').map(Number);
  return (hours ?? 0) * 60 + (minutes ?? 0);
}
