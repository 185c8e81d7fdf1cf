import { systemReason } from '../../error/index.ts';
import type { Clock } from '../../lifecycle/index.ts';
import type { OwnedSocket } from '../../net/probe/index.ts';
import type { Line } from '../finding.result.ts';
import { notChecked } from '../finding.ts';
import type { DoctorLine } from './doctor.result.ts';

/** This machine as the doctor looks at it. Tests replace what they cannot change on theirs. */
export interface DoctorHost {
  readonly clock: Pick<Clock, 'wall'>;
  /** Of this gw. */
  readonly version: string;
  /** Folder of the installation. */
  readonly folder: string;
  readonly node: { readonly version: string; readonly path: string };
  readonly name: string;
  readonly home: string | undefined;
  /** Places of the scripts of `gw completion`. */
  readonly completionFiles: readonly string[];
  /** Search path of programs. */
  readonly path: string;
  readonly signal: AbortSignal;
  /** Output of a program of the operating system. Rejects as `runSystemProgram`. */
  readonly run: (program: string, args: readonly string[]) => Promise<string>;
  readonly sockets: () => Promise<readonly OwnedSocket[]>;
  readonly space: (path: string) => Promise<Space>;
}

interface Space {
  readonly freeBytes: number;
  /** null: the file system does not count them. */
  readonly freeInodes: number | null;
}

/** How a line begins: its place, without its verdict. */
export const start = (id: string, title: string) => ({ id, title, spec: null });

export function linesOf(
  group: DoctorLine['group'],
  lines: readonly Line[],
  need: DoctorLine['need'] = 'needed',
): DoctorLine[] {
  return lines.map((line) => ({ ...line, group, need }));
}

/** A check that failed itself has checked nothing. */
export async function orNotChecked(id: string, title: string, check: () => Promise<Line>): Promise<Line> {
  return check().catch((error: unknown) => {
    const { code, message } = error as NodeJS.ErrnoException;
    return notChecked(
      start(id, title),
      `could not be checked: ${code === undefined ? message : systemReason({ code })}`,
    );
  });
}
