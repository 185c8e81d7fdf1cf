import type { Cause, Scene } from '../pages/index.ts';

/** What is seen of the robot and its gateway at one moment. */
export interface Sight {
  readonly scene: Omit<Scene, 'atMs'>;
  /** Since when the link is as it is: also shows an outage between two sights. */
  readonly linkForMs: number;
  /** Since when the run drives to its station; null without a run. */
  readonly runForMs: number | null;
  /** How far from its goal the robot stood; null where the run did not fail. */
  readonly runFailure: { readonly offM: number | null; readonly offDeg: number | null } | null;
}

/** As the vendor names an alert that is none. HINWEIS */
const NO_ALERT = 'none';

/** Characters of a text of others in a cause. Project decision. */
const MAX_CAUSE_TEXT = 200;
const cut = (text: string) => text.slice(0, MAX_CAUSE_TEXT);

/**
 * What happened between two sights that makes an incident, `sinceMs` apart. What was so before the first sight is not news:
 * a gateway that starts beside a pressed emergency stop records nothing.
 */
export function causesBetween(before: Sight, after: Sight, sinceMs: number, atMs: number): Cause[] {
  const [old, now] = [before.scene, after.scene];
  return [
    ...stopped(old, now).map((cause) => ({ ...cause, atMs })),
    ...(now.standing === 'drives-on' && old.standing !== 'drives-on' ? [{ code: 'does-not-stop' as const, atMs }] : []),
    ...(isPressed(now) === true && isPressed(old) === false ? [{ code: 'emergency-stop' as const, atMs }] : []),
    ...newAlerts(old, now).map((alert) => ({ code: 'alert' as const, atMs, ...alert })),
    ...(isLinkLost(before, after, sinceMs)
      ? [
          {
            code: 'link-lost' as const,
            atMs,
            failure: now.link.kind === 'connected' ? null : now.link.failure && cut(now.link.failure),
          },
        ]
      : []),
    ...(isLost(now) && !isLost(old) ? [{ code: 'position-lost' as const, atMs }] : []),
    ...moveFailed(before, after).map((move) => ({ code: 'move-failed' as const, atMs, ...move })),
  ];
}

type Sighted = Sight['scene'];

/** A stop that is pressed again is a cause too: there was a reason for it. */
function stopped(
  old: Sighted,
  { stop }: Sighted,
): { code: 'stop'; origin: Scene['stop']['origin']; by: string | null }[] {
  const isNew = stop.latched && (!old.stop.latched || old.stop.since !== stop.since || stop.repeats > old.stop.repeats);
  return isNew ? [{ code: 'stop', origin: stop.origin, by: stop.by && cut(stop.by) }] : [];
}

/** undefined: it was never reported. */
const isPressed = ({ wheels }: Sighted) => wheels.value?.emergencyStopPressed;

function newAlerts(old: Sighted, now: Sighted): { alertCode: number; text: string }[] {
  const known = old.alerts.value;
  if (known === null) return [];
  return (now.alerts.value ?? [])
    .filter(({ code, level }) => level !== NO_ALERT && !known.some((alert) => alert.code === code))
    .map(({ code, message }) => ({ alertCode: code, text: cut(message) }));
}

function isLinkLost(before: Sight, after: Sight, sinceMs: number): boolean {
  if (before.scene.link.kind !== 'connected') return false;
  return after.scene.link.kind !== 'connected' || after.linkForMs < Math.min(sinceMs, before.linkForMs);
}

/** The robot says so, or its pose was found wrong. */
const isLost = ({ positioning, gate }: Sighted) =>
  positioning.value?.quality === 'lost' || gate.notes.some(({ code }) => code === 'pose-alarm');

type Move = Omit<Extract<Cause, { code: 'move-failed' }>, 'code' | 'atMs'>;

/** Also a run that stopped, where no person ended it. */
const hasFailed = ({ scene, runFailure }: Sight) => scene.run?.state === 'failed' || runFailure !== null;

function moveFailed(before: Sight, after: Sight): Move[] {
  const [old, now] = [before.scene, after.scene];
  const { run } = now;
  if (run !== null && hasFailed(after)) {
    const isSame =
      old.run !== null &&
      hasFailed(before) &&
      old.run.kind === run.kind &&
      old.run.name === run.name &&
      (after.runForMs ?? 0) >= (before.runForMs ?? 0);
    const { kind, name, title, failReason } = run;
    const { offM = null, offDeg = null } = after.runFailure ?? {};
    return isSame
      ? []
      : [{ kind, name: name && cut(name), ...(title !== undefined && { title }), failReason, offM, offDeg }];
  }
  // A move that no run of this gateway ordered.
  if (run?.state === 'running' && run.kind !== 'order') return [];
  const [last, next] = [old.planning.value, now.planning.value];
  if (last === null || next === null || next.moveState !== 'failed' || last.moveState === 'failed') return [];
  return [{ kind: 'order', name: null, failReason: next.failReason, offM: null, offDeg: null }];
}
