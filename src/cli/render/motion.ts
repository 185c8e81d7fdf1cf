import chalk from 'chalk';
import type { MapRestore } from '../../lib/toolkit/map/change.result.ts';
import type { MotionClear, MotionGo, MotionPose, MotionStop } from '../../lib/toolkit/motion/motion.result.ts';
import { isOtherRobot } from '../../lib/toolkit/motion/not-stopped.ts';
import type { TourRun } from '../../lib/toolkit/tour/run.result.ts';
import { findingsLines, page, printable, renderTable, renderVerdict } from '../output.ts';

/**
 * First line of a drive or tour that did not succeed. The cancel of a move, and its reported end, do not prove that the
 * robot stands: only the finding of that name does.
 */
function endedHeadline(what: string, { state, interrupted, mayBeMoving, findings }: Driven): string {
  const standstill = findings.find(({ id }) => id === 'standstill')?.verdict;
  const isConfirmed = !mayBeMoving && (state === 'stopped' || !interrupted);
  const ended = interrupted ? `Interrupted: ${what} was ended` : `${sentence(what)} ${chalk.red.bold(state)}`;
  const open = interrupted
    ? `Interrupted, and the end of ${what} is not confirmed`
    : `${ended}, its end is not confirmed`;
  const end = isConfirmed ? ended : open;
  switch (standstill) {
    case 'ok':
      return isConfirmed
        ? `${end}; the robot stands.`
        : `${end}: the robot stands now, and ${alarming('MAY DRIVE ON')}.`;
    case 'wrong':
      return `${end}, but ${alarming('THE ROBOT IS STILL MOVING')}: press its emergency stop.`;
    default:
      return `${end}, but ${alarming('THE ROBOT MAY STILL BE MOVING')}: it was not seen to stand.`;
  }
}

const alarming = chalk.red.bold;
const sentence = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** `gw motion go` and `gw motion dock` */
export function renderMotionGo(go: MotionGo): string {
  const place = go.to === null ? 'the dock' : printable(go.to);
  const words: DriveWords = {
    name: `the drive to ${place}`,
    differs: `The robot arrived at ${place}, but ${alarming('its reported pose does not match')}.`,
    ended: `The chassis reports ${place} reached`,
    confirmed: `The robot ${chalk.green('stands at')} ${place}, according to its reported pose.`,
    missed: () => 'The',
  };
  const missed = go.arrival !== null && go.arrival.verdict !== 'at-goal' ? { place, reason: go.arrival.reason } : null;
  return page(driveHeadline(go, words, missed), passedLine(go.although), '', drivenLines(go));
}

interface DriveWords {
  readonly name: string;
  readonly differs: string;
  readonly ended: string;
  readonly confirmed: string;
  /** Begins the sentence about a station that was not reached, with the robot standing. */
  readonly missed: (state: string) => string;
}

type Driven = Pick<MotionGo, 'findings' | 'interrupted' | 'mayBeMoving'> & Pick<TourRun, 'state'>;

/** `missed`: where the robot should stand by the chassis, and does not by its poses. */
function driveHeadline(
  run: Driven,
  { name, differs, ended, confirmed, missed: begin }: DriveWords,
  missed: { readonly place: string; readonly reason: string } | null,
): string {
  const { state, findings, interrupted, mayBeMoving } = run;
  const has = (wanted: string) => findings.some(({ id, verdict }) => id === wanted && verdict === 'ok');
  if (state === 'running') return `${sentence(name)} ${alarming('is not completed: the robot is still driving')}.`;
  if (state === 'paused') return `${sentence(name)} ${alarming('is not completed: a person has paused it')}.`;
  if (state === 'succeeded') {
    if (findings.some(({ verdict }) => verdict === 'wrong')) return differs;
    return has('place') ? confirmed : `${ended}; ${chalk.yellow('the final pose was not compared')}.`;
  }
  if (missed === null || interrupted) return endedHeadline(name, run);
  const why = `chassis reports ${missed.place} reached, but ${alarming(printable(missed.reason))}.`;
  return has('standstill') && !mayBeMoving
    ? `${begin(state)} ${why}`
    : `${sentence(name)} ${state}, and ${alarming('THE ROBOT MAY STILL BE MOVING')}: the ${why}`;
}

function drivenLines({ findings, tookMs }: Pick<MotionGo, 'findings' | 'tookMs'>) {
  return [findingsLines(findings), '', chalk.dim(`took ${(tookMs / 1000).toFixed(1)} s`)];
}

/** The alerts that were passed, under the headline. */
function passedLine(although: readonly number[]) {
  const alerts = although.map((code) => `alert ${code}`).join(', ');
  return alerts !== '' && chalk.yellow(`Ordered although the robot may report ${alerts}.`);
}

/** `gw motion pose` */
export function renderMotionPose({ pose: { xM, yM, yawDeg }, from, state, reason }: MotionPose): string {
  const where = `${xM} m, ${yM} m, ${yawDeg}°`;
  if (state === 'succeeded') {
    return `The robot ${chalk.green('reports the pose')} that was set: ${where} (${printable(from)}).`;
  }
  const word =
    state === 'unknown' ? 'Whether the robot accepted the pose is unknown' : 'The robot did not accept the pose';
  return `${chalk.red.bold(word)} ${where} (${printable(from)}): ${printable(reason ?? state)}\nDo not let it drive before its pose is correct.`;
}

/** `gw motion stop` */
export function renderMotionStop(stop: MotionStop): string {
  const { ways, moveDetail, standstillDetail, by, reason, since, unsavedBecause, robot } = stop;
  const rows = ways.map(({ way, address, answer, detail, tookMs }) => [
    way,
    printable(address),
    answer,
    tookMs === null ? '--' : `${tookMs} ms`,
    printable(detail),
  ]);
  return page(
    [stopHeadline(stop), ''],
    stop.delivered && [
      `by      ${printable(by ?? 'unknown')}: ${printable(reason ?? 'no reason given')}, ${since ?? ''}`,
      `robot   ${printable(robot ?? 'not reported by its gateway')}`,
      `move    ${printable(moveDetail)}`,
      `stands  ${printable(standstillDetail)}`,
      unsavedBecause !== null && `disk    ${printable(unsavedBecause)}`,
      ['clear   gw motion clear, by a signed-in person', ''],
    ],
    renderTable(['way', 'address', 'answer', 'took', 'detail'], rows),
  );
}

function stopHeadline(stop: MotionStop): string {
  const { delivered, cancelledAtChassis, saved, move, standstill, robot, meantRobot } = stop;
  const press = 'Press the emergency stop of the robot';
  if (!delivered && cancelledAtChassis) {
    return `${chalk.red.bold('NOT STOPPED: CANCELLED AT THE CHASSIS, NOT LATCHED')}: the gateway does not answer, and any client may order the next move. ${press} if it moves.`;
  }
  if (!delivered) return `${chalk.red.bold('NOT STOPPED')}: the stop could not be delivered. ${press} now.`;
  if (isOtherRobot(stop)) {
    const [other, meant] = [printable(robot ?? ''), printable(meantRobot ?? '')];
    return `${chalk.red.bold(`NOT STOPPED: ROBOT ${meant}`)} of the site file. The stop is latched at another one, ${other}. Press the emergency stop of ${meant} now.`;
  }
  const latch = `latched${savedText(saved)}`;
  const check = (what: string) => `Check ${what}; ${press.toLowerCase()} if it moves.`;
  const now = `${press} now.`;
  const retire = 'Take it out of service until a stop has been verified to stop it.';
  // What the robot does comes before what its chassis says.
  const cases: readonly (readonly [is: boolean, what: string, next: string])[] = [
    [standstill === 'drives-on', 'THE ROBOT DOES NOT STOP', now],
    [standstill === 'moves', 'THE ROBOT IS STILL MOVING', now],
    [robot === null && meantRobot !== null, 'THE GATEWAY DOES NOT NAME ITS ROBOT', check(printable(meantRobot ?? ''))],
    [move === 'drove-on', 'THE ROBOT COMPLETED ITS MOVE', retire],
    [move === 'under-way', 'THE ROBOT IS STILL MOVING', now],
    [move !== 'ended', 'THE MOVE STATE IS UNKNOWN', check('the robot')],
    [standstill !== 'stands', 'THE ROBOT WAS NOT SEEN TO STAND', check('the robot')],
    [stop.disobeyed !== null, 'THE ROBOT DROVE ON AFTER IT', `It stands now. ${retire}`],
  ];
  const found = cases.find(([is]) => is);
  if (found !== undefined) return `${alarming(`STOP LATCHED, BUT ${found[1]}`)}: ${latch}. ${found[2]}`;
  return `${saved === true ? chalk.green('STOPPED') : chalk.yellow('STOPPED')}: ${latch}. The robot stands, and the chassis reports no running move.`;
}

function savedText(saved: MotionStop['saved']): string {
  switch (saved) {
    case true:
      return ' and saved';
    case false:
      return ', NOT saved: a restart of the gateway would forget it';
    case 'pending':
      return ', NOT saved yet: a restart of the gateway now would forget it';
    case null:
      return '; the gateway does not report whether it is saved';
  }
}

/** `gw motion clear` */
export function renderMotionClear({ cleared, wasLatched, by, reason, since, disobeyed, gate }: MotionClear): string {
  const state = gate.open ? 'Orders may pass.' : 'The gate is still closed:';
  const reasons = gate.open ? [] : gate.reasons.map((text) => `  ${printable(text)}`);
  if (!wasLatched) return page(`No stop was latched: nothing to clear. ${state}`, reasons);
  const who = `stopped by ${printable(by ?? 'unknown')}, ${since ?? 'time unknown'}: ${printable(reason ?? 'no reason given')}`;
  if (!cleared) return page(`${alarming('STILL STOPPED')}: another stop was requested meanwhile.`, who);
  if (disobeyed === null) return page(`${chalk.green('CLEARED')}: no stop is latched. ${state}`, reasons, who);
  return page(
    `${chalk.yellow('CLEARED')}, ${alarming('BUT THE ROBOT DID NOT STOP AT IT')}: ${printable(disobeyed)}.`,
    'Verify that it stops before it drives: `gw evidence verify stop`, with a hand on the emergency stop.',
    [state, reasons, who],
  );
}

/** The check of the standstill. `when`: the result is older than the output. */
export function stillnessLine({ verdict, detail }: NonNullable<MapRestore['stillness']>, when: string): string {
  return verdict === 'still'
    ? `standstill  ${renderVerdict('ok')} ${when}: ${printable(detail)}`
    : `standstill  ${renderVerdict('not-checked')} not checked ${when}, confirmed by --robot-stands-still: ${printable(detail)}`;
}

/** `gw tour run` */
export function renderTourRun(run: TourRun): string {
  const { tour, stations, arrivals } = run;
  const name = `Tour ${printable(tour)}`;
  const words: DriveWords = {
    name: `tour ${printable(tour)}`,
    differs: `${name} ended, but ${alarming('the reported final pose does not match')}.`,
    ended: `${name} ended`,
    confirmed: `${name} ${chalk.green('succeeded')}, and the reported final pose matches.`,
    missed: (state) => `${name} ${alarming(state)}: the`,
  };
  const missed = arrivals.find(({ verdict }) => verdict !== 'at-goal');
  return page(
    driveHeadline(
      run,
      words,
      missed === undefined ? null : { place: printable(missed.station), reason: missed.reason },
    ),
    passedLine(run.although),
    ['', chalk.dim(stations.map(printable).join(' -> '))],
    arrivals.map(
      ({ station, verdict, reason }) =>
        `${renderVerdict(verdictOf(verdict))} ${printable(station)}: ${printable(reason)}`,
    ),
    drivenLines(run),
  );
}

function verdictOf(arrival: TourRun['arrivals'][number]['verdict']): 'ok' | 'wrong' | 'not-checked' {
  if (arrival === 'at-goal') return 'ok';
  return arrival === 'not-known' ? 'not-checked' : 'wrong';
}
