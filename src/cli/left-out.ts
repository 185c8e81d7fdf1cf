/** Topics and commands that the packages of a gateway leave out (scripts/package/stage.js). */
export const simulatorTopics: ReadonlySet<string> = new Set(['sim', 'demo']);
