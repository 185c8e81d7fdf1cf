import { COUNTDOWN_MS } from './world.ts';

/** What happened, in its order: acts of persons, the world, what pages showed, and the orders that the chassis received. */
export type Line = { readonly atMs: number } & (
  | { readonly what: 'act'; readonly act: string; readonly means: string | null | undefined }
  | { readonly what: 'act-over' }
  | { readonly what: 'allowed'; readonly isTroubled: boolean }
  | { readonly what: 'trouble'; readonly why: string }
  | { readonly what: 'put'; readonly id: string; readonly station: string }
  | { readonly what: 'removed'; readonly id: string }
  | { readonly what: 'cleared' }
  | { readonly what: 'arrival-over' }
  | { readonly what: 'ended'; readonly station: string | null; readonly state: string; readonly brings: boolean }
  | {
      readonly what: 'shown';
      readonly page: number;
      readonly id: string;
      readonly kind: string;
      readonly station: string | null;
    }
  | { readonly what: 'order'; readonly station: string | null; readonly by: string | undefined; readonly world: World }
);

interface World {
  readonly place: string | null | undefined;
  readonly isCalm: boolean;
  readonly percent: number;
}

export interface Rules {
  readonly nextAfterMs: number | null;
  readonly returnAfterMs: number | null;
  readonly idleAfterMs: number | null;
  readonly belowPercent: number | null;
}

type Of<W extends Line['what']> = Extract<Line, { what: W }>;
const SHOW_GAP_MS = 3_500;

/** Why nobody asked for this order, by the rules of docs/motion.md alone; null: a person did, or saw it announced. */
export function unaskedBecause(lines: readonly Line[], at: number, rules: Rules): string | null {
  const order = lines[at] as Of<'order'>;
  const before = lines.slice(0, at);
  return order.by === 'itself' ? unannounced(before, order, rules) : unordered(before, order);
}

/** A person's order is made within the person's act, and goes where that person meant. */
function unordered(before: readonly Line[], order: Of<'order'>): string | null {
  const act = before.findLast((line) => line.what === 'act' || line.what === 'act-over');
  if (act?.what !== 'act') return 'no person acts at this moment';
  if (act.act !== 'start' && act.act !== 'proceed') return `a person only did: ${act.act}`;
  if (act.means !== order.station) return `the person meant ${act.means}`;
  const [first] = queueOf(before);
  return act.act === 'start' || first === order.station ? null : `the queue has ${first} first`;
}

function unannounced(before: readonly Line[], order: Of<'order'>, rules: Rules): string | null {
  const { world, station, atMs } = order;
  const allowed = before.findLastIndex((line) => line.what === 'allowed' && !line.isTroubled);
  if (allowed < 0) return 'no person has allowed it since the start';
  const trouble = before.slice(allowed).find((line) => line.what === 'trouble');
  if (trouble !== undefined) return `nobody has allowed it since: ${(trouble as Of<'trouble'>).why}`;
  if (!world.isCalm) return 'the robot was not known to rest in order';
  if (world.place === undefined) return 'it was at no known place';
  if (world.place === station) return 'it was there';

  const last = before.findLast((line) => line.what === 'shown');
  if (last === undefined || last.station !== station) return 'no page showed where it goes';
  const shown = before.filter((line): line is Of<'shown'> => line.what === 'shown' && line.id === last.id);
  const times = [...shown.map((line) => line.atMs), atMs];
  if ((times[0] ?? atMs) > atMs - COUNTDOWN_MS + 1_000) return 'it was not shown for the whole countdown';
  const since = times.filter((ms) => ms >= atMs - COUNTDOWN_MS);
  if (since.some((ms, index) => ms - (since[index - 1] ?? ms) > SHOW_GAP_MS)) return 'the announcement had a gap';
  if (before.slice(before.indexOf(last)).some((line) => line.what === 'act')) {
    const act = before.slice(before.indexOf(last)).find((line) => line.what === 'act') as Of<'act'>;
    if (act.act === 'touch') return 'a person had ended it';
  }

  const queue = queueOf(before);
  const ended = before.findLast((line) => line.what === 'ended');
  const isOver =
    ended === undefined ||
    before.slice(before.indexOf(ended)).some(({ what }) => what === 'arrival-over' || what === 'cleared');
  const waits = ended?.state === 'succeeded' && ended.brings && !isOver;
  const forMs = atMs - (ended?.atMs ?? 0);
  switch (last.kind) {
    case 'next':
      if (rules.nextAfterMs === null) return 'no setting lets the next one begin';
      if (!waits || ended.station !== world.place) return 'no arrival waits here';
      if (queue[0] !== station) return `the queue has ${queue[0]} first`;
      return forMs < rules.nextAfterMs ? 'too early' : null;
    case 'return':
      if (rules.returnAfterMs === null) return 'no setting lets it return';
      if (!waits || ended.station !== world.place) return 'no arrival waits here';
      if (queue.length > 0) return 'a person had queued another station';
      return forMs < rules.returnAfterMs ? 'too early' : null;
    default: {
      if (station !== null) return 'an idle robot goes to the dock alone';
      if (waits || queue.length > 0) return 'it was not idle';
      const isLow = rules.belowPercent !== null && world.percent < rules.belowPercent;
      const isLate = rules.idleAfterMs !== null && forMs >= rules.idleAfterMs;
      return isLow || isLate ? null : 'too early';
    }
  }
}

/** What persons put, less what they removed, what began, and what a stop or a restart has cleared. */
function queueOf(before: readonly Line[]): readonly string[] {
  const cleared = before.findLastIndex((line) => line.what === 'cleared');
  const queue: { id: string; station: string }[] = [];
  let act = '';
  for (const line of before.slice(cleared + 1)) {
    if (line.what === 'put' && !queue.some(({ id }) => id === line.id)) queue.push(line);
    if (line.what === 'removed') queue.splice(0, queue.length, ...queue.filter(({ id }) => id !== line.id));
    if (line.what === 'act') act = line.act;
    // A person's own order to the same station takes nothing from it.
    const isFromQueue = line.what === 'order' && (line.by === 'itself' || act === 'proceed');
    if (isFromQueue && queue[0]?.station === line.station) queue.shift();
  }
  return queue.map(({ station }) => station);
}
