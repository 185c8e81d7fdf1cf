import { addAbortSignal } from 'node:stream';
import { Args, Errors, Flags } from '@oclif/core';
import { canAsk } from '../../cli/ask.ts';
import { reportedTechnician, withChecklistReporter } from '../../cli/checklist-reporter.ts';
import { GwCommand, type Outcome } from '../../cli/command.ts';
import { viaFlag } from '../../cli/flags.ts';
import { unended } from '../../cli/lost-write.ts';
import { printable } from '../../cli/output.ts';
import { createTechnician } from '../../cli/question.ts';
import { isInOrder, renderChecklistRun } from '../../cli/render/checklist.ts';
import { readDevicePassword } from '../../cli/secrets.ts';
import { builtInChecklists } from '../../cli/shipped.ts';
import { defaultSiteFile } from '../../cli/site-file.ts';
import { INITIALS } from '../../lib/checklist/index.ts';
import { exitCodes, GwError } from '../../lib/error/index.ts';
import type { ChecklistRun as Result } from '../../lib/toolkit/checklist/checklist.result.ts';

export default class ChecklistRun extends GwCommand<Result> {
  static override summary = 'Run a checklist on one or more robots and write the signed record.';
  static override description =
    'Each step is ok, wrong, skipped (a step it needs is not ok) or not-checked (not answered, or movement is not allowed). Exits with 0 only when every requested step is ok and there is no red line, else with 1; with 2 when a site file is missing or invalid. Questions are asked at a terminal; --answers supplies prepared answers. Every result is on disk before it is shown, so --resume continues an interrupted run. The run ends with a record, signed with the device key where that is on this machine. Moves the robot only with --robot-will-move.';
  static override examples = [
    '<%= config.bin %> checklist run premises --site site.yaml --initials KM',
    '<%= config.bin %> checklist run site --resume',
    '<%= config.bin %> checklist run site --resume --only tour --robot-will-move',
    '<%= config.bin %> checklist run site --probe-from it@198.51.100.20 --password-file device-password.txt',
    '<%= config.bin %> checklist run handover --site robot-7/site.yaml --site robot-8/site.yaml',
    '<%= config.bin %> checklist run site --answers answers.yaml --results report',
    '<%= config.bin %> checklist run site --robot-will-move --format junit > junit.xml',
    '<%= config.bin %> checklist run ./our-lobby.yaml --json',
  ];
  static override args = {
    checklist: Args.string({
      required: true,
      name: 'NAME|FILE',
      description: 'A built-in name, or a file (with its extension).',
    }),
  };
  static override flags = {
    // The site flag of the other commands, repeatable; GW_SITE is read below.
    site: Flags.file({
      char: 's',
      summary: 'Site file of a robot; repeat for further robots. Default GW_SITE, else site.yaml, here or above.',
      helpValue: 'FILE',
      multiple: true,
      multipleNonGreedy: true,
    }),
    via: viaFlag,
    only: Flags.string({
      summary: 'Only this step or section, and what it needs; repeatable.',
      helpValue: 'ID',
      multiple: true,
      multipleNonGreedy: true,
      exclusive: ['from'],
    }),
    from: Flags.string({
      summary: 'Start at this step or section, after what it and the following ones need.',
      helpValue: 'ID',
    }),
    resume: Flags.boolean({
      summary:
        'Resume the newest run of this checklist for these robots: ok, wrong and answered steps stay, --only and --from repeat steps. Questions before a drive are asked again.',
    }),
    initials: Flags.string({ summary: 'Your initials, recorded with every answer.', helpValue: 'KM' }),
    who: Flags.string({ summary: 'Your name, for the record.', helpValue: 'NAME' }),
    answers: Flags.file({
      summary:
        'YAML file, or - for standard input: step id to yes, no, skip, a measured number, or {answer, by, remark, photo, accept}.',
      helpValue: 'FILE',
    }),
    'probe-from': Flags.string({
      summary: "Probe the robot also from this host in the customer's network, over SSH; repeatable.",
      helpValue: 'USER@HOST[:PORT]',
      multiple: true,
      multipleNonGreedy: true,
    }),
    'password-file': Flags.file({
      summary: 'Read the device password from the first line of this file, which must be readable for its owner only.',
      helpValue: 'FILE',
    }),
    'robot-will-move': Flags.boolean({
      summary: 'The way is clear: steps that move the robot may run.',
    }),
    'fail-fast': Flags.boolean({ summary: 'End the run at the first wrong step that is not accepted.' }),
    'dry-run': Flags.boolean({
      summary: 'Say what each step would do; run, ask and write nothing. Exits with 1, because nothing was checked.',
      exclusive: ['resume', 'results', 'out', 'no-record'],
    }),
    'no-record': Flags.boolean({
      summary: 'Keep nothing of this run: no record, nothing to resume. It is no acceptance.',
      exclusive: ['resume', 'out'],
    }),
    format: Flags.option({
      summary: 'Format of the result, md being markdown; --json prints the envelope of all commands.',
      options: ['text', 'markdown', 'md', 'junit'] as const,
      default: 'text' as const,
    })(),
    out: Flags.file({
      char: 'o',
      summary: 'New file for the record; default records/NAME-SERIAL-TIME.json in the state folder.',
      helpValue: 'FILE',
    }),
    all: Flags.boolean({ summary: 'List every step at the end, not only those that are not ok.' }),
    results: Flags.directory({ summary: 'Folder for the result as JSON, JUnit and Markdown.', helpValue: 'DIR' }),
  };
  static override readonly schema = 'gw/checklist-run/1';

  #print: ((data: Result) => string) | null = null;
  #all = false;

  protected override async execute(): Promise<Outcome<Result>> {
    const { args, flags } = await this.parse(ChecklistRun);
    if (flags.initials !== undefined && !INITIALS.test(flags.initials)) {
      throw new Errors.CLIError(`expected initials of at most 8 letters, digits, . or -, found '${flags.initials}'`);
    }
    const [{ runChecklist }, { systemClock }] = await Promise.all([
      import('../../lib/toolkit/checklist/run.ts'),
      import('../../lib/lifecycle/index.ts'),
    ]);
    if (flags.format !== 'text') {
      if (this.jsonEnabled()) {
        throw new GwError('USAGE', `--json and --format ${flags.format} cannot both be printed.`, {
          remedy: 'Omit one of them, or write all forms into a folder with --results DIR.',
        });
      }
      const { toJUnit, toMarkdown } = await import('../../lib/report/index.ts');
      this.#print = flags.format === 'junit' ? toJUnit : toMarkdown;
    }
    this.#all = flags.all === true;
    const usual = process.env.GW_SITE || defaultSiteFile();
    const [firstSite = usual, ...moreSites] = flags.site ?? [];
    const technician = createTechnician({
      onInterrupt: () => process.kill(process.pid, 'SIGINT'),
      initials: flags.initials ?? null,
    });
    const given = await this.#given(flags['probe-from'] ?? [], flags['password-file']);
    const isPiped = flags.answers === '-';
    const canPrompt = canAsk() && !this.jsonEnabled() && !isPiped;
    let lost: GwError | undefined;
    const shown = { quiet: this.isQuiet, note: (text: string) => this.note(text), clock: systemClock };
    const data = await withChecklistReporter(shown, (reporter) => {
      const warn = (text: string) => {
        reporter?.pause();
        this.warn(text);
        reporter?.resume();
      };
      return this.through(
        flags.via,
        (ssh, signal) =>
          runChecklist({
            nameOrFile: args.checklist,
            dir: builtInChecklists(this.config.root),
            sitePaths: [firstSite, ...moreSites],
            answersPath: isPiped ? undefined : flags.answers,
            readAnswers: isPiped ? () => readInput(signal) : undefined,
            failFast: flags['fail-fast'],
            dryRun: flags['dry-run'],
            noRecord: flags['no-record'],
            outDir: flags.results,
            only: flags.only,
            from: flags.from,
            resume: flags.resume,
            recordPath: flags.out,
            technician: { name: flags.who ?? null, initials: flags.initials ?? null },
            // An absent flag is undefined and not false.
            motionAllowed: flags['robot-will-move'] === true,
            gwVersion: this.config.version,
            clock: systemClock,
            checks: { searchPath: process.env.PATH, sshConnection: process.env.SSH_CONNECTION, ssh, ...given },
            signal,
            onProgress: () => {},
            onWarning: (text) => warn(printable(text)),
            ...(canPrompt && (reporter ? reportedTechnician(reporter, technician) : technician)),
            ...(canPrompt && given.password === undefined && { askPassword: askDevicePassword }),
            ...reporter?.events,
          }),
        {
          onLost: (loss) => {
            lost = loss;
            warn(loss.message);
          },
        },
      );
    });
    const ok = isInOrder(data);
    // Without a valid site file nothing was run against a robot.
    const isUnread = data.robots.some(({ serial }) => serial === null);
    const exitCode = isUnread ? exitCodes.usage : exitCodes.checkFailed;
    return { data, ok, exitCode, ...((data.interrupted || (!ok && lost !== undefined)) && unended(lost)) };
  }

  /** Inputs of the run beside the site file. */
  async #given(hosts: readonly string[], passwordFile: string | undefined) {
    const password = await readDevicePassword(passwordFile);
    if (hosts.length === 0) return { password };
    const { secondHosts } = await import('../../lib/toolkit/network/check/from.ts');
    const { sshOptionsHere } = await import('../../cli/ssh-options.ts');
    return { password, fromHosts: secondHosts(hosts, sshOptionsHere(this.signal)) };
  }

  protected override isDocument(): boolean {
    return this.#print !== null;
  }

  protected override render(data: Result): string {
    return this.#print === null ? renderChecklistRun(data, { all: this.#all }) : this.#print(data);
  }
}

const MAX_INPUT_BYTES = 256 * 1024;

/** Standard input to its end. Throws ANSWERS_INVALID when it is longer than a file may be. */
async function readInput(signal: AbortSignal): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let total = 0;
  for await (const chunk of addAbortSignal(signal, process.stdin)) {
    total += (chunk as Buffer).length;
    if (total > MAX_INPUT_BYTES)
      throw new GwError('ANSWERS_INVALID', 'The answers on standard input have more than 256 KiB.');
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks);
}

/** Hidden prompt; without input the steps become questions. */
async function askDevicePassword(signal: AbortSignal): Promise<string | null> {
  const { askSecret } = await import('../../cli/ask.ts');
  const question = 'Device password for steps that sign in (Enter = answer questions instead):';
  return (await askSecret(question, { signal })) || null;
}
