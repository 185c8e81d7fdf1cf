import { Args, Errors, Flags } from '@oclif/core';
import { GwCommand, type Outcome } from '../../cli/command.ts';
import { readDevicePassword } from '../../cli/device-password.ts';
import { viaFlag } from '../../cli/flags.ts';
import { printable } from '../../cli/output.ts';
import { canAsk, createTechnician } from '../../cli/question.ts';
import {
  isInOrder,
  renderChecklistRun,
  renderPrerequisites,
  renderRobotHead,
  renderSectionHead,
  renderStepLine,
} from '../../cli/render/checklist.ts';
import { builtInChecklists } from '../../cli/shipped.ts';
import { INITIALS } from '../../lib/checklist/initials.ts';
import { exitCodes } from '../../lib/error/index.ts';
import type { ChecklistRun as Result } from '../../lib/toolkit/checklist/run.result.ts';

export default class ChecklistRun extends GwCommand<Result> {
  static override summary = 'Run a checklist against the robots of one or more site files, and write the record.';
  static override description =
    `Each step comes out ok, wrong, skipped (a step it needs was not ok) or not checked (nobody
answered, or the robot may not move). The command ends with 0 only when every step that was asked for is ok and nothing
else is red, else with 1. Questions are asked at a terminal; --answers gives the answers beforehand. Every result is on
disk before it is shown: after an interruption --resume goes on. At the end stands one record file, signed with the key
of the device where that is on this machine.`;
  static override examples = [
    '<%= config.bin %> checklist run premises --site site.yaml --initials KM',
    '<%= config.bin %> checklist run site --resume',
    '<%= config.bin %> checklist run site --resume --only tour --robot-will-move',
    '<%= config.bin %> checklist run site --from-host it@198.51.100.20 --password-file device-password.txt',
    '<%= config.bin %> checklist run handover --site robot-7/site.yaml --site robot-8/site.yaml',
    '<%= config.bin %> checklist run site --answers answers.yaml --out report',
    '<%= config.bin %> checklist run site --robot-will-move --format junit > junit.xml',
    '<%= config.bin %> checklist run ./our-lobby.yaml --json',
  ];
  static override args = {
    checklist: Args.string({
      required: true,
      name: 'NAME|FILE',
      description: 'A built-in name, or a file (with its ending).',
    }),
  };
  static override flags = {
    // As the site flag of the other commands, but for several robots in one run; GW_SITE names one, and is read below.
    site: Flags.file({
      char: 's',
      summary: 'Site file of a robot; again for each further robot of this run. Without it GW_SITE, else site.yaml.',
      helpValue: 'FILE',
      multiple: true,
      multipleNonGreedy: true,
    }),
    via: viaFlag,
    only: Flags.string({
      summary: 'Only this step or section, and what it needs; may be given more than once.',
      helpValue: 'ID',
      multiple: true,
      multipleNonGreedy: true,
      exclusive: ['from'],
    }),
    from: Flags.string({
      summary: 'Begin with this step or section, after what it and the following ones need.',
      helpValue: 'ID',
    }),
    resume: Flags.boolean({
      summary:
        'Go on with the newest run of this checklist for these robots: what is ok, wrong or answered stays, what --only or --from name is taken again.',
    }),
    initials: Flags.string({ summary: 'Your initials, to stand beside every answer.', helpValue: 'KM' }),
    technician: Flags.string({ summary: 'Your name, for the head of the record.', helpValue: 'NAME' }),
    answers: Flags.file({
      summary: 'YAML file: step id to yes, no, skip, a measured number, or {answer, by, remark, photo, accept}.',
      helpValue: 'FILE',
    }),
    'from-host': Flags.string({
      summary:
        "Try the robot from this machine of the customer's network too, through SSH; may be given more than once.",
      helpValue: 'USER@HOST',
      multiple: true,
      multipleNonGreedy: true,
    }),
    'password-file': Flags.file({
      summary: 'Take the device password from the first line of this file, which others must not be able to read.',
      helpValue: 'FILE',
    }),
    'robot-will-move': Flags.boolean({
      summary: 'You have made sure that nobody stands in the way; steps that move the robot may run.',
    }),
    format: Flags.option({
      summary: 'How the result is printed; --json gives the envelope of all commands.',
      options: ['text', 'markdown', 'junit'] as const,
      default: 'text' as const,
    })(),
    record: Flags.file({
      summary: 'Where the record goes, a new file; records/NAME-SERIAL-TIME.json in the state folder without it.',
      helpValue: 'FILE',
    }),
    out: Flags.directory({ summary: 'Folder for the report files: JSON, JUnit and Markdown.', helpValue: 'DIR' }),
  };
  static override readonly schema = 'gw/checklist-run/1';

  #print: (data: Result) => string = renderChecklistRun;

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
      const { toJUnit, toMarkdown } = await import('../../lib/report/index.ts');
      this.#print = flags.format === 'junit' ? toJUnit : toMarkdown;
    }
    const quiet = this.jsonEnabled();
    const [firstSite = 'site.yaml', ...moreSites] = flags.site ?? [process.env.GW_SITE || 'site.yaml'];
    const technician = createTechnician({
      input: process.stdin,
      output: process.stderr,
      onInterrupt: () => process.kill(process.pid, 'SIGINT'),
      initials: flags.initials ?? null,
    });
    let sectionId: string | null = null;
    const given = await this.#given(flags['from-host'] ?? [], flags['password-file']);
    const canPrompt = canAsk() && !quiet;
    try {
      const data = await this.through(
        flags.via,
        (ssh, signal) =>
          runChecklist({
            nameOrFile: args.checklist,
            dir: builtInChecklists(this.config.root),
            sitePaths: [firstSite, ...moreSites],
            answersPath: flags.answers,
            outDir: flags.out,
            only: flags.only,
            from: flags.from,
            resume: flags.resume,
            recordPath: flags.record,
            technician: { name: flags.technician ?? null, initials: flags.initials ?? null },
            // Left out, the flag is not false but not there.
            motionAllowed: flags['robot-will-move'] === true,
            gwVersion: this.config.version,
            clock: systemClock,
            checks: { searchPath: process.env.PATH, ssh, ...given },
            signal,
            onProgress: () => {},
            onWarning: (text) => this.warn(printable(text)),
            ...(canPrompt && { ask: technician.ask, decide: technician.decide }),
            ...(canPrompt && given.password === undefined && { askPassword: askDevicePassword }),
            ...(!quiet && {
              onPrerequisites: (missing) => this.note(renderPrerequisites(missing)),
              onResult: (step) => this.note(renderStepLine(step)),
              onRobot: (robot) => {
                sectionId = null;
                this.note(renderRobotHead(robot));
              },
              onStep: ({ section }) => {
                if (section !== null && section.id !== sectionId) this.note(renderSectionHead(section.title));
                sectionId = section?.id ?? null;
              },
            }),
          }),
        (lost) => this.warn(lost.message),
      );
      const ok = isInOrder(data);
      return { data, ok, ...(data.interrupted && { exitCode: exitCodes.interrupted }) };
    } finally {
      technician.close();
    }
  }

  /** What the run is given beside the site file. */
  async #given(hosts: readonly string[], passwordFile: string | undefined) {
    const password = await readDevicePassword(passwordFile);
    if (hosts.length === 0) return { password };
    const { secondHosts } = await import('../../lib/toolkit/network/check/from.ts');
    const { sshOptionsHere } = await import('../../cli/ssh-options.ts');
    return { password, fromHosts: secondHosts(hosts, sshOptionsHere(this.signal)) };
  }

  protected override render(data: Result): string {
    return this.#print(data);
  }
}

/** Typed unseen; nothing typed: the steps are asked as questions. */
async function askDevicePassword(signal: AbortSignal): Promise<string | null> {
  const { askHidden } = await import('../../cli/hidden-prompt.ts');
  const question = 'Device password, for steps that sign in (enter = be asked about them instead): ';
  return (await askHidden(process.stdin, process.stderr, question, signal, 'Interrupted.')) || null;
}
