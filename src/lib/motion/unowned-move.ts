import type { ChassisSnapshot, Planning } from '../chassis/index.ts';
import type { Clock, Log } from '../lifecycle/index.ts';
import type { UnownedMove } from './model.ts';

/**
 * `/planning_state` is latched (vendor, HINWEIS): a move under way is published with the subscription. A move first
 * reported later than this began later. Project decision.
 */
const PUBLISHED_WITHIN_MS = 2_000;

/** One move of gw, from before its order is sent until gw stops following it. */
export interface OwnMove extends Disposable {
  /** The chassis has taken the order under this number. */
  taken(moveId: number): void;
  /** Its end is unknown: if the chassis still drives it, it counts as unowned. */
  lost(): void;
}

export interface MoveWatch {
  /** To be held while an order is sent and followed. Until its number is known, no unknown move is judged. */
  begin(): OwnMove;
  /** The move under way that is none of gw's, by what the chassis said over this connection; null without one. */
  current(snapshot: ChassisSnapshot): UnownedMove | null;
  /** The chassis is connected and has not reported yet whether a move was under way before. */
  readonly isAwaited: boolean;
  /** To be called at every change of the link; true: the current move is one that is to be cancelled. */
  look(snapshot: ChassisSnapshot): boolean;
  /** A new life of the service: what is under way then was there before it. */
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
  /** What happens to a move that was under way before gw could know of it. */
  readonly policy: 'cancel' | 'leave';
}): MoveWatch {
  const { clock, log, policy } = options;
  /** Numbers of ended moves of gw. Only over this connection: after a restart the chassis may count anew. */
  const past = new Set<number>();
  const underWay = new Set<Mine>();
  let isConnected = false;
  /** Since when it is open whether a move was under way before; null: it is decided. */
  let openSinceMs: number | null = null;
  let victim: number | null = null;
  /** Moves that were seen to begin while gw looked on. */
  let leftAlone: number | null = null;
  let logged: number | null = null;

  function isMine(moveId: number): boolean {
    return past.has(moveId) || [...underWay].some((mine) => mine.moveId === moveId && !mine.isLost);
  }

  /** What the chassis drives that is not ours; 'open' while it may be the order that is just being sent. */
  function unowned(snapshot: ChassisSnapshot): Planning | 'open' | null {
    const planning = planningOf(snapshot);
    if (planning === null || planning.value.moveState !== 'moving' || isMine(planning.value.actionId)) return null;
    const saidAtMs = clock.monotonicMs() - planning.ageMs;
    // Ages are whole milliseconds.
    const maySoonBeMine = [...underWay].some(({ moveId, sentAtMs }) => moveId === null && saidAtMs >= sentAtMs - 1);
    return maySoonBeMine ? 'open' : planning.value;
  }

  function decideFirst(snapshot: ChassisSnapshot): void {
    if (openSinceMs === null) return;
    const found = unowned(snapshot);
    if (found === 'open') return;
    const isReported = planningOf(snapshot) !== null;
    if (!isReported && clock.monotonicMs() - openSinceMs < PUBLISHED_WITHIN_MS) return;
    openSinceMs = null;
    if (found === null || found.actionId === leftAlone) return;
    if (policy === 'cancel') victim = found.actionId;
    log.warn(
      { moveId: found.actionId, type: found.actionType, policy },
      'the robot was driving by an order that gw did not give',
    );
    logged = found.actionId;
  }

  return {
    begin() {
      const mine: Mine = { moveId: null, sentAtMs: clock.monotonicMs(), isLost: false };
      underWay.add(mine);
      return {
        taken(moveId) {
          mine.moveId = moveId;
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
      return { moveId: found.actionId, type: found.actionType, isBeingCancelled: found.actionId === victim };
    },

    get isAwaited() {
      return isConnected && openSinceMs !== null;
    },

    look(snapshot) {
      const wasConnected = isConnected;
      isConnected = snapshot.link.kind === 'connected';
      if (!isConnected) return false;
      if (!wasConnected) {
        past.clear();
        openSinceMs = clock.monotonicMs();
      }
      decideFirst(snapshot);
      const found = unowned(snapshot);
      if (found === 'open' || openSinceMs !== null) return false;
      if (found === null) {
        victim = null;
        // Without a report over this connection its end is not known.
        if (planningOf(snapshot) !== null) leftAlone = null;
        return false;
      }
      if (found.actionId !== victim) {
        victim = null;
        leftAlone = found.actionId;
      }
      if (logged !== found.actionId) {
        log.warn(
          { moveId: found.actionId, type: found.actionType },
          'the robot drives by an order that gw did not give',
        );
        logged = found.actionId;
      }
      return victim !== null;
    },

    restart() {
      isConnected = false;
      leftAlone = null;
      victim = null;
    },
  };
}

/** For a person: what drives, and why nothing else may. */
export function unownedMoveText({ moveId, isBeingCancelled }: UnownedMove): string {
  const then = isBeingCancelled ? 'It is being cancelled' : 'No other order passes until it has ended';
  return `The robot drives move ${moveId}, an order that gw did not give or no longer follows. ${then}.`;
}

/**
 * The plan as received over this connection. A newer message that was rejected does not take back the one before it:
 * a move counts as under way until the chassis reports its end.
 */
function planningOf({ link, values: { planning } }: ChassisSnapshot) {
  if (link.kind !== 'connected' || planning.status !== 'heard') return null;
  return planning.staleReason === undefined || planning.staleReason === 'newer-rejected' ? planning : null;
}
