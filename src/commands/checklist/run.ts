import { Args, Flags } from '@oclif/core';
import { GwCommand, type Outcome } from '../../cli/command.ts';
import { siteFlag } from '../../cli/flags.ts';
import { canAsk, createTechnician } from '../../cli/question.ts';
import { renderChecklistRun, renderStepLine } from '../../cli/render/checklist.ts';
import { builtInChecklists } from '../../cli/shipped.ts';
import { exitCodes } from '../../lib/error/index.ts';
import type { ChecklistRun as Result } from '../../lib/toolkit/checklist-run.result.ts';

export default class ChecklistRun extends GwCommand<Result> {
  static override summary = 'Run a checklist against the robot of a site file.';
  static override description =
    `Each step comes out ok, wrong, skipped (a step it needs was not ok) or not checked (nobody
answered, or the robot may not move). The command ends with 0 only when every step is ok, else with 1.
Questions are asked at a terminal; --answers gives the answers beforehand.`;
  static override examples = [
    '<%= config.bin %> checklist run premises --site site.yaml',
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
    site: siteFlag,
    answers: Flags.file({ summary: 'YAML file: step id to yes, no, skip or {answer, by, remark}.', helpValue: 'FILE' }),
    'robot-will-move': Flags.boolean({
      summary: 'You have made sure that nobody stands in the way; steps that move the robot may run.',
    }),
    format: Flags.option({
      summary: 'How the result is printed; --json gives the envelope of all commands.',
      options: ['text', 'markdown', 'junit'] as const,
      default: 'text' as const,
    })(),
    out: Flags.directory({ summary: 'Folder for the report files: JSON, JUnit and Markdown.', helpValue: 'DIR' }),
  };
  static override readonly schema = 'gw/checklist-run/1';

  #print: (data: Result) => string = renderChecklistRun;

  protected override async execute(): Promise<Outcome<Result>> {
    const { args, flags } = await this.parse(ChecklistRun);
    const [{ runChecklist }, { systemClock }] = await Promise.all([
      import('../../lib/toolkit/checklist-run.ts'),
      import('../../lib/lifecycle/index.ts'),
    ]);
    if (flags.format !== 'text') {
      const { toJUnit, toMarkdown } = await import('../../lib/report/index.ts');
      this.#print = flags.format === 'junit' ? toJUnit : toMarkdown;
    }
    const quiet = this.jsonEnabled();
    const technician = createTechnician({
      input: process.stdin,
      output: process.stderr,
      onInterrupt: () => process.kill(process.pid, 'SIGINT'),
    });
    try {
      const data = await runChecklist({
        nameOrFile: args.checklist,
        dir: builtInChecklists(this.config.root),
        sitePath: flags.site,
        answersPath: flags.answers,
        outDir: flags.out,
        motionAllowed: flags['robot-will-move'],
        gwVersion: this.config.version,
        clock: systemClock,
        signal: this.signal,
        onProgress: () => {},
        ...(canAsk() && !quiet && { ask: technician.ask }),
        ...(!quiet && { onResult: (step) => this.note(renderStepLine(step)) }),
      });
      return { data, ok: data.ok, ...(data.interrupted && { exitCode: exitCodes.interrupted }) };
    } finally {
      technician.close();
    }
  }

  protected override render(data: Result): string {
    return this.#print(data);
  }
}
