import { tmpdir, userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import { asGwError, type ErrorJson, errorTable, GwError } from '../../error/index.ts';
import { type Clock, systemClock } from '../../lifecycle/index.ts';
import { isRecord } from '../chassis/maps/map-store.ts';
import { isFaultName } from '../faults.ts';
import { readIfThere } from '../files.ts';
import { CONTROL_HOST, type ControlView, HANDLE_FILE, parseObject, readPointer } from './handle.ts';

/** Folder of `gw sim` without --dir. */
export const DEFAULT_DIR = './gw-sim';
const ANSWER_TIMEOUT_MS = 10_000;

/** File that names the folder of the last started simulator of this user. */
export function defaultPointerFile(): string {
  return join(tmpdir(), `gw-sim-${userInfo().uid}.json`);
}

export interface ControlRequest {
  /** The change; without it the faults are listed. */
  readonly set?: { readonly name: string; readonly on: boolean };
  /** Names another folder to try when no simulator runs in `dir`. */
  readonly pointerFile?: string;
  readonly clock?: Clock;
}

interface Call {
  /** For a person. */
  readonly action: string;
  readonly timeoutMs: number;
  readonly clock?: Clock | undefined;
}

/**
 * Sends a request to the simulator of a folder. Throws SIM_NOT_RUNNING, USAGE for an unknown fault, PORT_IN_USE when
 * the port cannot be bound again after the fault `cut`.
 */
export async function controlSim(dir: string, { set, pointerFile, clock }: ControlRequest = {}): Promise<ControlView> {
  if (set && !isFaultName(set.name)) throw unknownFault(set.name);
  const call = { action: set ? 'switch a fault' : 'list the faults', timeoutMs: ANSWER_TIMEOUT_MS, clock };
  return (await callSim(dir, pointerFile, { set }, call)) as unknown as ControlView;
}

/** Whether a simulator runs in this folder. */
export async function isRunning(dir: string): Promise<boolean> {
  try {
    await controlSim(dir);
    return true;
  } catch {
    return false;
  }
}

/** Calls the simulator of a folder, or of that in the pointer file if none runs there. */
export async function callSim(
  dir: string,
  pointerFile: string | undefined,
  body: object,
  call: Call,
): Promise<Record<string, unknown>> {
  const own = resolve(dir);
  try {
    return await callFolder(own, body, call);
  } catch (error) {
    const other = pointerFile === undefined ? undefined : await readPointer(pointerFile);
    if (asGwError(error).code !== 'SIM_NOT_RUNNING' || other === undefined || other === own) throw error;
    return callFolder(other, body, call).catch((second) => {
      throw asGwError(second).code === 'SIM_NOT_RUNNING' ? error : second;
    });
  }
}

export function unknownFault(name: string): GwError {
  return new GwError('USAGE', `Unknown fault '${name}'.`, {
    remedy: 'List the faults with `gw sim fault --list`.',
  });
}

async function callFolder(dir: string, body: object, call: Call): Promise<Record<string, unknown>> {
  const handlePath = join(dir, HANDLE_FILE);
  const text = await readIfThere(handlePath);
  if (text === undefined) {
    throw new GwError('SIM_NOT_RUNNING', `No simulated robot is running in ${dir}.`, {
      remedy: 'Start one with `gw sim`, or name its folder with --dir.',
    });
  }
  const handle = parseObject(text);
  const url = typeof handle?.url === 'string' ? handle.url : '';
  const target = URL.parse(url);
  if (!handle || typeof handle.token !== 'string' || target?.hostname !== CONTROL_HOST) {
    throw new GwError('SIM_NOT_RUNNING', `${handlePath} contains no valid address of a simulator.`);
  }
  const tried = { address: CONTROL_HOST, port: Number(target.port), action: call.action };
  const { clock = systemClock, timeoutMs } = call;
  const late = new AbortController();
  using _limit = clock.after(timeoutMs, () => late.abort(new Error(`no answer within ${timeoutMs} ms`)));
  let status: number;
  let answer: Record<string, unknown> | undefined;
  try {
    const reply = await fetch(target, {
      method: 'POST',
      headers: { authorization: `Bearer ${handle.token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      redirect: 'error',
      signal: late.signal,
    });
    status = reply.status;
    answer = parseObject(await reply.text());
  } catch (error) {
    throw new GwError('SIM_NOT_RUNNING', `The simulated robot of ${dir} does not answer; it has probably ended.`, {
      tried,
      cause: error,
    });
  }
  if (status === 200 && answer) return answer;
  throw asRemoteError(answer?.error) ?? new GwError('SIM_NOT_RUNNING', `Another program answers in ${dir}.`, { tried });
}

function asRemoteError(error: unknown): GwError | undefined {
  const { code, message, tried, remedy } = (isRecord(error) ? error : {}) as Partial<ErrorJson>;
  if (typeof code !== 'string' || !Object.hasOwn(errorTable, code) || typeof message !== 'string') return undefined;
  return new GwError(code, message, { tried, remedy });
}
