import type { z } from 'zod';
import type { CatalogueEntry } from '../../checklist/index.ts';
import type { Clock } from '../../lifecycle/index.ts';
import type { Ssh } from '../../net/index.ts';
import type { SecondHost } from '../network/check/outside.ts';
import type { Need } from '../site/needs.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';

/** A check of gw; its options are `O`. */
export interface Check<O> {
  readonly summary: string;
  /** Whether it moves the robot. */
  readonly moves?: boolean;
  readonly with: z.ZodType<O>;
  /** What of the things that it can use was given. */
  readonly given?: (options: CatalogueOptions) => NonNullable<CatalogueEntry['given']>;
  readonly software?: CatalogueEntry['software'];
  readonly simulated?: CatalogueEntry['simulated'];
  /** Signs in: needs the device password. */
  readonly signsIn?: boolean;
  /** What of a readable site file it needs; 'site check' reports an unreadable one. */
  readonly needs?: readonly Need[] | ((options: O, expected: Expected) => readonly Need[]);
  readonly run: (options: O, run: Run) => Promise<object>;
}

/** What a step expects of the result, as its checklist has it. */
export type Expected = Parameters<NonNullable<CatalogueEntry['missing']>>[1];

/** What a check works with, beside its options. */
export interface Run
  extends CheckContext,
    Pick<CatalogueOptions, 'searchPath' | 'sshConnection' | 'gwVersion' | 'switchFault'> {
  /** The path of the site file. Throws USAGE without one. */
  path(): string;
  /** Opened when the first check needs it, so that 'site check' reports an invalid site file. */
  toolkit(): Promise<Toolkit>;
  /** For checks of the gateway itself or of its files: run elsewhere they would report on the wrong machine. */
  onGateway(): Promise<Toolkit>;
  /** The device password. Throws USAGE without one. */
  password(): string;
  /** The device password where one was given, for checks that can do without. */
  readonly givenPassword: string | undefined;
  readonly who: string;
  readonly fromHosts: readonly SecondHost[];
}

export interface CatalogueOptions {
  /** Site file of the checks. Absent: the catalogue is listed, not run. */
  readonly sitePath?: string;
  /** The user's PATH, searched for programs such as adb. */
  readonly searchPath?: string | undefined;
  /** `SSH_CONNECTION` of the command, where it was started in an SSH session. */
  readonly sshConnection?: string | undefined;
  /** SSH connection to the host through which the robot is reached. */
  readonly ssh?: Ssh | undefined;
  readonly clock?: Clock;
  /** Written into a backup; absent where the catalogue is only listed. */
  readonly gwVersion?: string | undefined;
  /** Hosts in the customer's network from which 'network check' probes the robot. */
  readonly fromHosts?: readonly SecondHost[];
  /** The device password, for checks that sign in. Never shown, never stored in a result. */
  readonly password?: string | undefined;
  /** Name of the technician, for evidence records that a step writes. */
  readonly who?: string | undefined;
  /** Programs that `run: command` may run, by the site file; undefined where a list is only shown. */
  readonly programs?: readonly string[] | undefined;
  /** Switches a fault of the simulated robot; only in `gw demo`. */
  readonly switchFault?: ((fault: { readonly name: string; readonly on: boolean }) => Promise<void>) | undefined;
}
