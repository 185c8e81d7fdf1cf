import { once } from 'node:events';
import { Errors, Flags } from '@oclif/core';
import type { Outcome } from '../../cli/command.ts';
import { durationFlag } from '../../cli/flags.ts';
import { LongRunningCommand } from '../../cli/long-running.ts';
import { renderSimEvent } from '../../cli/render/sim.ts';
import { systemClock } from '../../lib/lifecycle/index.ts';
import { type SimPart, simParts } from '../../lib/sim/model.ts';
import type { SimEvent } from '../../lib/sim/sim.result.ts';
import { createStages } from '../../lib/sim/waiting.ts';

export default class Sim extends LongRunningCommand<SimEvent> {
  static override summary = 'Run a simulated robot and write a site file for it.';
  static override description =
    'Listens on 127.0.0.1 only, writes a site file with evidence and secrets to a folder, and runs until Ctrl-C. A start that takes long says what it waits for. `gw sim fault` switches faults.';
  static override examples = [
    '<%= config.bin %> sim',
    '<%= config.bin %> sim --dir /tmp/robot --with voice,building,password',
    '<%= config.bin %> sim --robots 12',
    '<%= config.bin %> sim --evidence none --with password',
    '<%= config.bin %> sim --serial SN0007 --dir /tmp/robot-7',
    '<%= config.bin %> sim --chassis-port 0 --json',
  ];
  static override flags = {
    dir: Flags.directory({
      summary: 'Folder for the site file and its secrets.',
      helpValue: 'DIR',
      default: './gw-sim',
    }),
    'chassis-port': Flags.integer({
      summary: 'TCP port of the chassis, 0 for any free one; by default 8090 if free.',
      helpValue: 'PORT',
      min: 0,
      max: 65535,
    }),
    serial: Flags.string({
      summary: 'Serial number of the robot, 1 to 64 letters, digits, "_" or "-".',
      helpValue: 'SERIAL',
      default: 'SIM-0001',
      parse: async (input) => readSerial(input),
    }),
    'operator-port': Flags.integer({
      summary: 'TCP port of the operator server in the site file.',
      helpValue: 'PORT',
      min: 1,
      max: 65535,
      default: 5173,
    }),
    with: Flags.custom<SimPart[]>({
      summary: `Further simulated parts of the site: ${simParts.join(', ')}.`,
      helpValue: 'PART,PART',
      parse: async (input) => input.split(',').map(readPart),
    })(),
    robots: Flags.integer({
      summary: 'Number of neighbours that send heartbeats, by UDP to 127.0.0.1:45301; their key is in the folder.',
      helpValue: 'N',
      min: 0,
      max: 1000,
      default: 0,
    }),
    evidence: Flags.string({
      summary: 'Content of the evidence file: the facts that orders rely on, or none, as for a new robot.',
      options: ['verified', 'none'],
      default: 'verified',
    }),
    'boot-time': durationFlag({ summary: 'Start time of the robot', default: 0, min: 0, max: 600 }),
  };
  static override readonly schema = 'gw/sim/1';

  protected override async execute(): Promise<Outcome<SimEvent>> {
    const { flags } = await this.parse(Sim);
    const onEvent = (event: SimEvent) => {
      // What it waits for is progress, and not among the lines of the parts.
      if (event.event !== 'waiting' || this.jsonEnabled()) this.emit(event);
      else if (!this.isQuiet) this.note(renderSimEvent(event));
    };
    const loading = createStages(systemClock, onEvent, 'its program to be loaded');
    const { defaultPointerFile, startSim } = await import('../../lib/sim/index.ts').finally(() =>
      loading[Symbol.dispose](),
    );
    const sim = await startSim({
      dir: flags.dir,
      pointerFile: defaultPointerFile(),
      serial: flags.serial,
      chassisPort: flags['chassis-port'] ?? 'usual',
      operatorPort: flags['operator-port'],
      with: flags.with ?? [],
      robots: flags.robots,
      evidence: flags.evidence === 'verified',
      bootMs: flags['boot-time'] * 1000,
      onEvent,
    });
    // No `await using` here: the compiler does not rewrite a lazy import in a function that has one.
    if (!this.signal.aborted) await once(this.signal, 'abort');
    await sim[Symbol.asyncDispose]();
    return { data: { event: 'ended' } };
  }

  protected override readonly render = renderSimEvent;
}

function readPart(text: string): SimPart {
  const part = simParts.find((name) => name === text.trim());
  if (part === undefined) throw new Errors.CLIError(`expected some of ${simParts.join(', ')}, found '${text}'`);
  return part;
}

function readSerial(text: string): string {
  // Valid in a file name, in the common name of a certificate and in an MQTT client id.
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(text)) {
    throw new Errors.CLIError(`--serial: expected 1 to 64 letters, digits, "_" or "-", found '${text}'`);
  }
  return text;
}
