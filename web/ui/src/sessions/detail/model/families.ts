/** Which types of events open and close calls. */

export const NO_FAMILY = 0;

/** Families of pairs; a code is twice this number, plus one for the closing event. */
export const FAMILY = { tool: 1, model: 2, hook: 3, human: 4, pause: 5, agent: 6 } as const;

const CODES: Record<string, number> = {
  tool_use: FAMILY.tool * 2,
  tool_result: FAMILY.tool * 2 + 1,
  model_request: FAMILY.model * 2,
  model_response: FAMILY.model * 2 + 1,
  hook_triggered: FAMILY.hook * 2,
  hook_completed: FAMILY.hook * 2 + 1,
  human_wait: FAMILY.human * 2,
  human_input: FAMILY.human * 2 + 1,
  agent_pause: FAMILY.pause * 2,
  agent_resume: FAMILY.pause * 2 + 1,
  agent_start: FAMILY.agent * 2,
  agent_end: FAMILY.agent * 2 + 1,
};

/** The code of an event type: NO_FAMILY, or twice the family plus one for a closing event. */
export function familyCode(type: string): number {
  return Object.hasOwn(CODES, type) ? CODES[type]! : NO_FAMILY;
}

export function familyOf(code: number): number {
  return code >> 1;
}

export function isClose(code: number): boolean {
  return (code & 1) === 1;
}
