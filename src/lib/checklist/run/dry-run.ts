import type { Step } from '../file/step.ts';
import { excerptText } from '../match/excerpt.ts';
import type { Outcome } from './outcome.ts';
import type { RunnerOptions } from './runner-options.ts';

/** What a step would do, if the steps that it needs were ok. Never ok: nothing was looked at. */
export function planned(step: Step, options: RunnerOptions): Outcome {
  return { verdict: 'not-checked', why: whatHappens(step, options) };
}

function whatHappens(step: Step, { motionAllowed, answers, ask }: RunnerOptions): string {
  switch (step.kind) {
    case 'unavailable':
      return `Would not be checked: ${step.lacking}`;
    case 'confirm':
    case 'measure':
      if (step.kind === 'confirm' && step.known !== null) {
        const { reads, run } = step.known;
        const look = reads === null ? `run '${run}'` : `read the result of '${reads}'`;
        return `Would ${look}, and then ask: ${step.question}`;
      }
      if (answers?.answers.has(step.id)) return 'Would take the prepared answer.';
      return ask
        ? `Would ask: ${step.question}`
        : `Would stay open, without a terminal and an answer: ${step.question}`;
    case 'run':
      if (step.reads !== null) return `Would read the result of '${step.reads}'.`;
      if (step.moves && !motionAllowed) return 'Would not run: it moves the robot, which needs --robot-will-move.';
      return `Would run '${step.run}'${hasOptions(step.options) ? ` with ${excerptText(step.options)}` : ''}.`;
  }
}

function hasOptions(options: unknown): boolean {
  return typeof options === 'object' && options !== null && Object.keys(options).length > 0;
}
