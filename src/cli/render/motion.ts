import chalk from 'chalk';
import type { Finding } from '../../lib/toolkit/finding.result.ts';
import type { MapRestore } from '../../lib/toolkit/map/change.result.ts';
import type { MotionClear, MotionGo, MotionPose, MotionStop } from '../../lib/toolkit/motion/motion.result.ts';
import { isOtherRobot } from '../../lib/toolkit/motion/not-stopped.ts';
import type { TourRun } from '../../lib/toolkit/tour/run.result.ts';
import { findingLines, printable, renderTable, renderVerdict } from '../output.ts';

/**
 * First line of a drive or tour that did not succeed. The cancel of a move, and its reported end, do not prove that the
 * robot stands: only the finding of that name does.
 */
function endedHeadline(
  what: string,
  {
    state,
    interrupted,
    mayBeMoving,
    findings,
  }: { state: string; interrupted: boolean; mayBeMoving: boolean; findings: readonly Finding[] },
): string {
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
  const { to, findings, tookMs } = go;
  const place = to === null ? 'the dock' : printable(to);
  const lines = [goHeadline(place, go), ...passedLine(go.although), ''];
  lines.push(...findings.flatMap((finding) => findingLines(finding)));
  lines.push('', chalk.dim(`took ${(tookMs / 1000).toFixed(1)} s`));
  return lines.join('\n');
}

/** The alerts that were passed, under the headline. */
function passedLine(although: readonly number[]): string[] {
  if (although.length === 0) return [];
  return [chalk.yellow(`Ordered although the robot may report ${although.map((code) => `alert ${code}`).join(', ')}.`)];
}

function goHeadline(place: string, go: MotionGo): string {
  const { state, findings } = go;
  if (state === 'running')
    return `The drive to ${place} ${chalk.red.bold('is not completed: the robot is still driving')}.`;
  if (state === 'succeeded') {
    if (findings.some(({ verdict }) => verdict === 'wrong')) {
      return `The robot arrived at ${place}, but ${chalk.red.bold('its reported pose does not match')}.`;
    }
    const isCompared = findings.some(({ id, verdict }) => id === 'place' && verdict === 'ok');
    if (!isCompared) return `The chassis reports ${place} reached; ${chalk.yellow('the final pose was not compared')}.`;
    return `The robot ${chalk.green('stands at')} ${place}, according to its reported pose.`;
  }
  const { arrival, interrupted, mayBeMoving } = go;
  if (arrival !== null && arrival.verdict !== 'at-goal' && !interrupted) {
    const missed = chalk.red.bold(printable(arrival.reason));
    const stands = findings.some(({ id, verdict }) => id === 'standstill' && verdict === 'ok');
    if (stands && !mayBeMoving) return `The chassis reports ${place} reached, but ${missed}.`;
    return `The drive to ${place} ${state}, and ${chalk.red.bold('THE ROBOT MAY STILL BE MOVING')}: the chassis reports ${place} reached, but ${missed}.`;
  }
  return endedHeadline(`the drive to ${place}`, go);
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
  const lines = [stopHeadline(stop), ''];
  if (stop.delivered) {
    lines.push(`by      ${printable(by ?? 'unknown')}: ${printable(reason ?? 'no reason given')}, ${since ?? ''}`);
    lines.push(`robot   ${printable(robot ?? 'not reported by its gateway')}`);
    lines.push(`move    ${printable(moveDetail)}`);
    lines.push(`stands  ${printable(standstillDetail)}`);
    if (unsavedBecause !== null) lines.push(`disk    ${printable(unsavedBecause)}`);
    lines.push('clear   gw motion clear, by a signed-in person', '');
  }
  const rows = ways.map(({ way, address, answer, detail, tookMs }) => [
    way,
    printable(address),
    answer,
    tookMs === null ? '--' : `${tookMs} ms`,
    printable(detail),
  ]);
  const columns = ['way', 'address', 'answer', 'took', 'detail'];
  lines.push(renderTable(columns, rows));
  return lines.join('\n');
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
  // What the robot does comes before what its chassis says.
  if (standstill === 'drives-on') {
    return `${chalk.red.bold('STOP LATCHED, BUT THE ROBOT DOES NOT STOP')}: ${latch}. ${press} now.`;
  }
  if (standstill === 'moves') {
    return `${chalk.red.bold('STOP LATCHED, BUT THE ROBOT IS STILL MOVING')}: ${latch}. ${press} now.`;
  }
  if (robot === null && meantRobot !== null) {
    return `${chalk.red.bold('STOP LATCHED, BUT THE GATEWAY DOES NOT NAME ITS ROBOT')}: ${latch}. Check ${printable(meantRobot)}; ${press.toLowerCase()} if it moves.`;
  }
  switch (move) {
    case 'ended':
      if (standstill === 'not-known') {
        return `${chalk.red.bold('STOP LATCHED, BUT THE ROBOT WAS NOT SEEN TO STAND')}: ${latch}. Check the robot; ${press.toLowerCase()} if it moves.`;
      }
      if (stop.disobeyed !== null) {
        return `${chalk.red.bold('STOP LATCHED, BUT THE ROBOT DROVE ON AFTER IT')}: ${latch}. It stands now. Take it out of service until a stop has been verified to stop it.`;
      }
      return `${saved === true ? chalk.green('STOPPED') : chalk.yellow('STOPPED')}: ${latch}. The robot stands, and the chassis reports no running move.`;
    case 'drove-on':
      return `${chalk.red.bold('STOP LATCHED, BUT THE ROBOT COMPLETED ITS MOVE')}: ${latch}. Take it out of service until a stop has been verified to stop it.`;
    case 'under-way':
      return `${chalk.red.bold('STOP LATCHED, BUT THE ROBOT IS STILL MOVING')}: ${latch}. ${press} now.`;
    case 'not-known':
      return `${chalk.red.bold('STOP LATCHED, BUT THE MOVE STATE IS UNKNOWN')}: ${latch}. Check the robot; ${press.toLowerCase()} if it moves.`;
  }
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
  if (!wasLatched) return [`No stop was latched: nothing to clear. ${state}`, ...reasons].join('\n');
  const who = `stopped by ${printable(by ?? 'unknown')}, ${since ?? 'time unknown'}: ${printable(reason ?? 'no reason given')}`;
  if (!cleared) return `${chalk.red.bold('STILL STOPPED')}: another stop was requested meanwhile.\n${who}`;
  if (disobeyed === null)
    return [`${chalk.green('CLEARED')}: no stop is latched. ${state}`, ...reasons, who].join('\n');
  const headline = `${chalk.yellow('CLEARED')}, ${chalk.red.bold('BUT THE ROBOT DID NOT STOP AT IT')}: ${printable(disobeyed)}.`;
  const remedy = 'Verify that it stops before it drives: `gw evidence verify stop`, with a hand on the emergency stop.';
  return [headline, remedy, state, ...reasons, who].join('\n');
}

/** The check of the standstill. `when`: the result is older than the output. */
export function stillnessLine({ verdict, detail }: NonNullable<MapRestore['stillness']>, when: string): string {
  return verdict === 'still'
    ? `standstill  ${renderVerdict('ok')} ${when}: ${printable(detail)}`
    : `standstill  ${renderVerdict('not-checked')} not checked ${when}, confirmed by --it-stands-still: ${printable(detail)}`;
}

/** `gw tour run` */
export function renderTourRun(run: TourRun): string {
  const { stations, arrivals, findings, tookMs } = run;
  const lines = [headline(run), ...passedLine(run.although), '', chalk.dim(stations.map(printable).join(' -> '))];
  for (const { station, verdict, reason } of arrivals) {
    lines.push(`${renderVerdict(verdictOf(verdict))} ${printable(station)}: ${printable(reason)}`);
  }
  lines.push(...findings.flatMap((finding) => findingLines(finding)));
  lines.push('', chalk.dim(`took ${(tookMs / 1000).toFixed(1)} s`));
  return lines.join('\n');
}

function verdictOf(arrival: TourRun['arrivals'][number]['verdict']): 'ok' | 'wrong' | 'not-checked' {
  if (arrival === 'at-goal') return 'ok';
  return arrival === 'not-known' ? 'not-checked' : 'wrong';
}

function headline(run: TourRun): string {
  const { tour, state, interrupted, mayBeMoving, arrivals, findings } = run;
  const name = printable(tour);
  if (state === 'running') return `Tour ${name} ${chalk.red.bold('is not completed: the robot is still driving')}.`;
  if (state === 'succeeded') {
    if (findings.some(({ verdict }) => verdict === 'wrong')) {
      return `Tour ${name} ended, but ${chalk.red.bold('the reported final pose does not match')}.`;
    }
    const isCompared = findings.some(({ id, verdict }) => id === 'place' && verdict === 'ok');
    if (!isCompared) return `Tour ${name} ended; ${chalk.yellow('the final pose was not compared')}.`;
    return `Tour ${name} ${chalk.green('succeeded')}, and the reported final pose matches.`;
  }
  const missed = arrivals.find(({ verdict }) => verdict !== 'at-goal');
  if (missed !== undefined && !interrupted) {
    const why = `the chassis reports ${printable(missed.station)} reached, but ${chalk.red.bold(printable(missed.reason))}`;
    const stands = findings.some(({ id, verdict }) => id === 'standstill' && verdict === 'ok');
    if (stands && !mayBeMoving) return `Tour ${name} ${chalk.red.bold(state)}: ${why}.`;
    return `Tour ${name} ${state}, and ${chalk.red.bold('THE ROBOT MAY STILL BE MOVING')}: ${why}.`;
  }
  return endedHeadline(`tour ${name}`, run);
}
