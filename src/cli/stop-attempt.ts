import { GwError } from '../lib/error/index.ts';
import { notStopped } from '../lib/toolkit/motion/not-stopped.ts';
import { simulatorTopics } from './left-out.ts';
import { printable } from './output.ts';

/** Topics of the robot itself. In the others a word like 'stop' is about something else: `gw sim cloud stop`. */
const ROBOT_TOPICS: ReadonlySet<string> = new Set(['motion', 'tour', 'chassis']);
const MAX_WORDS = 8;
const STOP_WORD = /^(stop|stopp|stops|sotp|stpo|tsop|stp|sto|stopped|stopping|halt|estop|e-stop)$/;

/**
 * Whether a command line that names no command was meant to stop the robot. `known`: the ids of all commands and topics.
 * Project decision.
 */
export function isStopAttempt(args: readonly string[], known: readonly { readonly id: string }[]): boolean {
  const words = args.flatMap((arg) => arg.toLowerCase().split(/[\s:=]+/)).filter((word) => word !== '');
  const first = words.find((word) => !word.startsWith('-')) ?? '';
  if (words.some((word) => word === '--help' || word === '-h')) return false;
  // Also where they are left out, and so unknown.
  if (simulatorTopics.has(first)) return false;
  if (!ROBOT_TOPICS.has(first) && known.some(({ id }) => id.split(' ')[0] === first)) return false;
  return words.slice(0, MAX_WORDS).some((word) => STOP_WORD.test(word));
}

/** A mistyped stop: the person beside the robot must not read it as a stop. `cause`: what was wrong with it. */
export function mistypedStop(cause: GwError): GwError {
  const remedy = 'The command is: gw motion stop, where needed with --host NAME. It takes no other word.';
  return notStopped(new GwError(cause.code, cause.message, { remedy, details: cause.details, cause }));
}

/**
 * The error for a stop that the framework would take for a request for the help of `gw motion`: flags before the word,
 * `stop=now`. undefined: not such a line.
 */
export function misplacedStop(args: readonly string[]): GwError | undefined {
  const [topic, second] = args;
  if (topic !== 'motion' || second === undefined || !/^-|=/.test(second) || !isStopAttempt(args, [])) return undefined;
  return mistypedStop(new GwError('USAGE', `Not a command: gw ${printable(args.join(' '))}`));
}
