import type { ChassisSnapshot, Planning } from '../chassis/index.ts';
import type { Clock, Log } from '../lifecycle/index.ts';
import type { UnownedMove } from './model.ts';

/**
 * `/planning_state` is latched (vendor, HINWEIS): a running move is published with the subscription. A move first
 * reported later than this began later. Project decision.
 */
const PUBLISHED_WITHIN_MS = 2_000;

/** One move of gw, from before its order is sent until gw stops following it. */
export interface OwnMove extends Disposable {
  /**
   * The chassis accepted the order under this number. false: an earlier move over this connection had it, so no report of
   * it proves anything.
   */
  accepted(moveId: number): boolean;
  /** Its end is unknown: if it is still running, it counts as unowned. */
  lost(): void;
}

export interface MoveWatch {
  /** Held while an order is sent and followed. Until its number is known, no unknown move is judged. */
  begin(): OwnMove;
  /** The running unowned move as reported over this connection; null without one. */
  current(snapshot: ChassisSnapshot): UnownedMove | null;
  /** The chassis is connected and has not reported yet whether a move is running. */
  readonly isAwaited: boolean;
  /** Call at every change of the link; true: the current move is to be cancelled. */
  update(snapshot: ChassisSnapshot): boolean;
  /** The service restarts: a move that is running then is older than the service. */
  restart(): void;
}

interface Mine {
  moveId: number | null;
  readonly sentAtMs: number;
  isLost: boolean;
}

/** Separates the moves of gw from all others, by their numbers. */
export function createMoveWatch(options: {
  readonly clock: Clock;
  readonly log: Log;
  /** How to handle a move that was running before gw connected. */
  readonly policy: 'cancel' | 'leave';
}): MoveWatch {
  const { clock, log, policy } = options;
  /** Numbers of ended moves of gw over this connection: after a restart the chassis may reuse them. */
  const past = new Set<number>();
  /** When each number of a move was first reported or given over this connection. */
  const firstSeenMs = new Map<number, number>();
  const underWay = new Set<Mine>();
  let isConnected = false;
  /** Since when the first move report is awaited; null: decided. */
  let openSinceMs: number | null = null;
  let cancelledMoveId: number | null = null;
  /** The move that began while gw was connected: only shown. */
  let leftAlone: number | null = null;
  let logged: number | null = null;

  function isMine(moveId: number): boolean {
    return past.has(moveId) || [...underWay].some((mine) => mine.moveId === moveId && !mine.isLost);
  }

  /** The running move that gw did not order; 'open' while it may be the order just being sent. */
  function unowned(snapshot: ChassisSnapshot): Planning | 'open' | null {
    const planning = planningOf(snapshot);
    if (planning === null || planning.value.moveState !== 'moving' || isMine(planning.value.actionId)) return null;
    const reportedAtMs = clock.monotonicMs() - planning.ageMs;
    // Ages are rounded to milliseconds.
    const maySoonBeMine = [...underWay].some(({ moveId, sentAtMs }) => moveId === null && reportedAtMs >= sentAtMs - 1);
    return maySoonBeMine ? 'open' : planning.value;
  }

  function remember(snapshot: ChassisSnapshot): void {
    const planning = planningOf(snapshot);
    // A chassis that has no move yet reports a number as well.
    if (planning === null || planning.value.moveState === 'idle') return;
    const { actionId } = planning.value;
    if (!firstSeenMs.has(actionId)) firstSeenMs.set(actionId, clock.monotonicMs() - planning.ageMs);
  }

  function decideFirst(snapshot: ChassisSnapshot): void {
    if (openSinceMs === null) return;
    const found = unowned(snapshot);
    if (found === 'open') return;
    const isReported = planningOf(snapshot) !== null;
    if (!isReported && clock.monotonicMs() - openSinceMs < PUBLISHED_WITHIN_MS) return;
    openSinceMs = null;
    if (found === null || found.actionId === leftAlone) return;
    if (policy === 'cancel') cancelledMoveId = found.actionId;
    log.warn(
      { moveId: found.actionId, type: found.actionType, policy },
      'the robot was executing a move that gw did not order',
    );
    logged = found.actionId;
  }

  return {
    begin() {
      const mine: Mine = { moveId: null, sentAtMs: clock.monotonicMs(), isLost: false };
      underWay.add(mine);
      return {
        accepted(moveId) {
          mine.moveId = moveId;
          const seenMs = firstSeenMs.get(moveId);
          if (seenMs === undefined) firstSeenMs.set(moveId, mine.sentAtMs);
          // Ages are rounded to milliseconds.
          return seenMs === undefined || seenMs >= mine.sentAtMs - 1;
        },
        lost() {
          mine.isLost = true;
        },
        [Symbol.dispose]() {
          underWay.delete(mine);
          if (mine.moveId === null) return;
          if (mine.isLost) past.delete(mine.moveId);
          else past.add(mine.moveId);
        },
      };
    },

    current(snapshot) {
      const found = unowned(snapshot);
      if (found === null || found === 'open') return null;
      return { moveId: found.actionId, type: found.actionType, isBeingCancelled: found.actionId === cancelledMoveId };
    },

    get isAwaited() {
      return isConnected && openSinceMs !== null;
    },

    update(snapshot) {
      const wasConnected = isConnected;
      isConnected = snapshot.link.kind === 'connected';
      if (!isConnected) return false;
      if (!wasConnected) {
        past.clear();
        firstSeenMs.clear();
        openSinceMs = clock.monotonicMs();
      }
      remember(snapshot);
      decideFirst(snapshot);
      const found = unowned(snapshot);
      if (found === 'open' || openSinceMs !== null) return false;
      if (found === null) {
        cancelledMoveId = null;
        // Without a report over this connection its end is unknown.
        if (planningOf(snapshot) !== null) leftAlone = null;
        return false;
      }
      if (found.actionId !== cancelledMoveId) {
        cancelledMoveId = null;
        leftAlone = found.actionId;
      }
      if (logged !== found.actionId) {
        log.warn({ moveId: found.actionId, type: found.actionType }, 'the robot executes a move that gw did not order');
        logged = found.actionId;
      }
      return cancelledMoveId !== null;
    },

    restart() {
      isConnected = false;
      leftAlone = null;
      cancelledMoveId = null;
    },
  };
}

/** Text: the running move, and why no other order passes. */
export function unownedMoveText({ moveId, isBeingCancelled }: UnownedMove): string {
  const then = isBeingCancelled ? 'It is being cancelled' : 'No other order passes until it has ended';
  return `The robot executes move ${moveId}, which gw did not order or no longer follows. ${then}.`;
}

/**
 * The plan as received over this connection. A newer rejected message does not replace the one before it: a move counts
 * as running until the chassis reports its end.
 */
function planningOf({ link, values: { planning } }: ChassisSnapshot) {
  if (link.kind !== 'connected' || planning.status !== 'received') return null;
  return planning.staleReason === undefined || planning.staleReason === 'newer-rejected' ? planning : null;
}
