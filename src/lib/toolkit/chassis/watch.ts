import { type ChassisSnapshot, createChassisLink, judgeCondition, obstaclesIn } from '../../chassis/index.ts';
import { aborted, onAbort, silentLog } from '../../lifecycle/index.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import { chassisAccess } from './access.ts';
import { robotConditions } from './condition.ts';
import type { ChassisView, ChassisWatchEvent } from './watch.result.ts';

export interface ChassisWatchOptions {
  /** For how long; without it until the signal. */
  readonly seconds?: number | undefined;
  /** Interval of views without changes, in milliseconds. */
  readonly everyMs: number;
}

/**
 * Maintains the chassis link and reports its state: at once when the connection changes, otherwise at a fixed interval.
 * A lost connection is reported and does not end the watch. An aborted signal is the normal end.
 */
export async function watchChassis(
  toolkit: Toolkit,
  options: ChassisWatchOptions,
  { signal }: Pick<CheckContext, 'signal'>,
  onView: (view: ChassisView) => void,
): Promise<ChassisWatchEvent> {
  const { clock } = toolkit;
  const link = createChassisLink({ ...(await chassisAccess(toolkit)), log: silentLog });
  const began = clock.monotonicMs();
  const over = new AbortController();
  let last = '';
  const notify = () => {
    // A link that is being closed is not a state of the chassis.
    if (over.signal.aborted) return;
    const snapshot = link.snapshot();
    last = essence(snapshot);
    onView(viewOf(snapshot, clock.wall()));
  };
  const onChange = () => {
    if (essence(link.snapshot()) !== last) notify();
  };
  const end = () => over.abort();
  using _listening = link.subscribe(onChange);
  using _pace = clock.every(options.everyMs, notify);
  using _limit = options.seconds === undefined ? undefined : clock.after(options.seconds * 1_000, end);
  using _aborted = onAbort(signal, end);
  try {
    await link.start({ signal: over.signal, fail: (error) => over.abort(error) });
    await aborted(over.signal);
    const { link: state } = link.snapshot();
    if (over.signal.reason instanceof Error && over.signal.reason.name !== 'AbortError') throw over.signal.reason;
    return { event: 'ended', watchedMs: Math.round(clock.monotonicMs() - began), link: state };
  } finally {
    await link.stop();
  }
}

/** The part of a snapshot whose changes are reported at once. */
function essence({ link, poseUnit, unitContradicted, values }: ChassisSnapshot): string {
  const failure = link.kind === 'not-connected' ? link.failure : '';
  const wrong = judgeCondition(values).filter(({ verdict }) => verdict === 'wrong');
  const condition = wrong.map(({ id, state }) => `${id} ${state}`).join();
  const codes = values.alerts.status === 'received' ? values.alerts.value.map(({ code }) => code).join() : '';
  const obstacles = obstaclesIn(values).map((obstacle) => (obstacle.kind === 'unreadable' ? obstacle.topic : ''));
  return `${link.kind} ${failure} ${unitContradicted} ${poseUnit.doubt !== null} ${condition} ${codes} ${obstacles.join()}`;
}

function viewOf(snapshot: ChassisSnapshot, at: Date): ChassisView {
  const { values, identity, complaints } = snapshot;
  return {
    event: 'state',
    at: at.toISOString(),
    link: snapshot.link,
    linkForMs: snapshot.linkForMs,
    roundTripMs: snapshot.roundTripMs,
    identity: identity === null ? null : { ...identity, capabilities: { ...identity.capabilities } },
    values: values as ChassisView['values'],
    poseUnit: snapshot.poseUnit,
    unitContradicted: snapshot.unitContradicted,
    condition: robotConditions(values),
    complaints: [...complaints],
  };
}
