import type { ChecklistRunOptions } from '../lib/toolkit/checklist/run-options.ts';
import {
  renderPrerequisites,
  renderRobotHead,
  renderSectionHead,
  renderStepLine,
  renderStepProgress,
} from './render/checklist.ts';

type Reporter = Required<
  Pick<ChecklistRunOptions, 'onProgress' | 'onPrerequisites' | 'onResult' | 'onRobot' | 'onStep'>
>;

/**
 * Prints a run of a checklist while it happens. Progress is printed once per stage of an attempt, because a countdown
 * would fill the screen; a repeated step asks the person again.
 */
export function createChecklistReporter(note: (text: string) => void): Reporter {
  let sectionId: string | null = null;
  const stages = new Set<string>();
  return {
    onProgress(text) {
      const stage = text.replace(/\d+/g, '');
      if (!stages.has(stage)) note(renderStepProgress(text));
      stages.add(stage);
    },
    onPrerequisites: (missing) => note(renderPrerequisites(missing)),
    onResult(step) {
      stages.clear();
      note(renderStepLine(step));
    },
    onRobot(robot) {
      sectionId = null;
      note(renderRobotHead(robot));
    },
    onStep({ section }) {
      stages.clear();
      if (section !== null && section.id !== sectionId) note(renderSectionHead(section.title));
      sectionId = section?.id ?? null;
    },
  };
}
