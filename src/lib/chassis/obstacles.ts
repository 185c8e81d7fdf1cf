import { LOST_QUALITY } from './closing.ts';
import type { LiveValue, LiveValues, Positioning } from './model.ts';

/** What the messages of the chassis say against an order. */
export type Obstacle =
  | { readonly kind: 'emergency-stop' | 'wheels-released' | 'mapping' | 'position-poor' }
  | { readonly kind: 'control-mode'; readonly mode: string }
  | { readonly kind: 'position-lost'; readonly state: string }
  /** The newest message of this topic could not be read, and none since. */
  | {
      readonly kind: 'unreadable';
      readonly topic: '/wheel_state' | '/slam/state' | '/alerts' | '/planning_state';
      readonly why: string;
    };

/** What follows from an obstacle. In the probe each is a fault, or not checked. */
export interface Effect {
  /** Kinds of orders that are refused. */
  readonly refuses: readonly ('drive' | 'pose')[];
  /** A running drive is cancelled; so is a trial. */
  readonly endsDrive: boolean;
  /** The reported pose proves no arrival. */
  readonly spoilsArrival: boolean;
}

const always: Effect = { refuses: ['drive', 'pose'], endsDrive: true, spoilsArrival: false };
const forDrives: Effect = { ...always, refuses: ['drive'] };
/** Setting the pose repairs a lost position, and drives nowhere. */
const ofPosition: Effect = { ...forDrives, spoilsArrival: true };

/** The one table of what an obstacle does. Project decision. */
const effects = {
  'emergency-stop': always,
  'control-mode': forDrives,
  'wheels-released': forDrives,
  'position-lost': ofPosition,
  mapping: ofPosition,
  // It dips on the way through a long corridor, and the chassis drives by itself: only rest and arrival need a better one.
  'position-poor': { ...ofPosition, endsDrive: false },
  '/wheel_state': always,
  '/planning_state': always,
  '/slam/state': ofPosition,
  '/alerts': forDrives,
} as const satisfies Record<
  Exclude<Obstacle['kind'], 'unreadable'> | Extract<Obstacle, { kind: 'unreadable' }>['topic'],
  Effect
>;

export function effectOf(obstacle: Obstacle): Effect {
  return effects[obstacle.kind === 'unreadable' ? obstacle.topic : obstacle.kind];
}

/** `position_quality` (vendor SDK, HINWEIS): poor. */
const POOR_QUALITY = 3;

/** The first that holds of a position; null: none. */
export function positionObstacle({ state, reliable, quality }: Positioning): Obstacle | null {
  if (!reliable || quality === LOST_QUALITY || state === 'inactive') return { kind: 'position-lost', state };
  if (state === 'slam') return { kind: 'mapping' };
  return quality === POOR_QUALITY ? { kind: 'position-poor' } : null;
}

/**
 * The one judgement of what the messages forbid: for the gate, running drives, arrivals, the trials and the pages. A value
 * that is outdated still forbids, and one that was never received says nothing.
 */
export function obstaclesIn({ wheels, positioning, alerts, planning }: LiveValues): readonly Obstacle[] {
  const found: Obstacle[] = [];
  if (wheels.status === 'received') {
    const { emergencyStopPressed, controlMode: mode, wheelsReleased } = wheels.value;
    if (emergencyStopPressed) found.push({ kind: 'emergency-stop' });
    if (mode !== 'auto') found.push({ kind: 'control-mode', mode });
    if (wheelsReleased === true) found.push({ kind: 'wheels-released' });
  }
  const position = positioning.status === 'received' ? positionObstacle(positioning.value) : null;
  if (position !== null) found.push(position);
  const unreadable = (topic: Extract<Obstacle, { kind: 'unreadable' }>['topic'], live: LiveValue<unknown>) => {
    if (live.rejected !== undefined) found.push({ kind: 'unreadable', topic, why: live.rejected });
  };
  unreadable('/wheel_state', wheels);
  unreadable('/slam/state', positioning);
  unreadable('/alerts', alerts);
  if (planning.rejectedMoving === true) unreadable('/planning_state', planning);
  return found;
}
