import type { PoseUnitVerdict } from './model.ts';

export interface UnitJudge {
  /** One `ori` of `/tracked_pose`, as it came. False when it is no finite number and was not counted. */
  add(ori: number): boolean;
  /** The samples that follow do not continue those before: a connection was lost. Proofs stand. */
  interrupt(): void;
  verdict(): PoseUnitVerdict;
}

const TURN = 2 * Math.PI;
/** Headings are printed with few digits; ±3.141593 is still a normalised radian. */
const SLACK = 1e-6;
/**
 * The longest way between two samples, the short way round, that still counts as following a turn: a sixth of a
 * turn. It keeps a robot that jitters by a few *degrees* around 0 from looking like one that turns in radians: its
 * jumps from one end to the other would pass for crossings of the seam, but its slow way back would then have to be
 * slower than a degree per sample, time after time.
 */
const LONGEST_STEP = Math.PI / 3;

/**
 * Judges in which unit `/tracked_pose` carries `ori`.
 * - A value beyond 2π cannot be a normalised radian: degrees.
 * - A whole turn, followed sample by sample across the seam, with no value beyond ±π: radians. In degrees the same
 *   turn would show values up to 180.
 * - Otherwise nothing is decided; a robot that stands still at 0.5 decides nothing.
 *
 * Radians contradict the measured fact and win over everything else.
 * @source specification, 'Angles (critical rule)' (BELEGT: degrees); the rule of judging is a decision of ours
 */
export function createUnitJudge(): UnitJudge {
  let samples = 0;
  let largest: number | null = null;
  let beyondTurn: number | null = null;
  let fullTurn = false;
  /** The turn being followed: last raw value, and the unwrapped heading with its extremes. */
  let turn: { last: number; heading: number; least: number; most: number; crossed: boolean } | null = null;

  const begin = (ori: number) => ({ last: ori, heading: ori, least: ori, most: ori, crossed: false });

  function follow(ori: number): void {
    if (Math.abs(ori) > Math.PI + SLACK) {
      turn = null;
      return;
    }
    if (turn === null) {
      turn = begin(ori);
      return;
    }
    const raw = ori - turn.last;
    const crossing = Math.abs(raw) > Math.PI;
    const step = crossing ? raw - Math.sign(raw) * TURN : raw;
    if (Math.abs(step) > LONGEST_STEP) {
      turn = begin(ori);
      return;
    }
    turn.last = ori;
    turn.heading += step;
    turn.least = Math.min(turn.least, turn.heading);
    turn.most = Math.max(turn.most, turn.heading);
    turn.crossed ||= crossing;
    if (turn.crossed && turn.most - turn.least >= TURN - SLACK) fullTurn = true;
  }

  return {
    add(ori) {
      if (typeof ori !== 'number' || !Number.isFinite(ori)) return false;
      samples += 1;
      const size = Math.abs(ori);
      largest = Math.max(largest ?? 0, size);
      if (size > TURN + SLACK) beyondTurn ??= ori;
      follow(ori);
      return true;
    },
    interrupt() {
      turn = null;
    },
    verdict() {
      return { samples, largest, doubt: null, ...judge(samples, largest, beyondTurn, fullTurn) };
    },
  };
}

function judge(
  samples: number,
  largest: number | null,
  beyondTurn: number | null,
  fullTurn: boolean,
): Pick<PoseUnitVerdict, 'verdict' | 'reason'> {
  if (fullTurn) {
    const also =
      beyondTurn === null ? '' : ` (although ${beyondTurn.toFixed(3)} was seen as well, which only degrees can be)`;
    return { verdict: 'radians', reason: `the robot turned through a full circle inside ±π${also}` };
  }
  if (beyondTurn !== null) {
    return { verdict: 'degrees', reason: `${beyondTurn.toFixed(3)} was seen, which no radian between ±2π can be` };
  }
  if (samples === 0) return { verdict: 'not-decided', reason: 'no pose was heard' };
  return {
    verdict: 'not-decided',
    reason: `no value beyond ±2π was seen (largest ${(largest ?? 0).toFixed(3)}) and no full turn: turn the robot through a full circle`,
  };
}
