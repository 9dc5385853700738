import { type ReactNode, useId } from "react";
import { useQuery } from "urql";

import { AgentChoicesDocument } from "./pipelines.generated.ts";

/** The profile for the pipeline's agent steps; without one, the steps' own. */
export function AgentChoices({ chosen, onChoose }: { chosen: string; onChoose: (agent: string) => void }): ReactNode {
  const id = useId();
  const [{ data }] = useQuery({ query: AgentChoicesDocument });
  return (
    <div className="mb-6 grid max-w-reading gap-1">
      <label htmlFor={id} className="font-medium">
        Agent
      </label>
      <select id={id} className="field !w-72" value={chosen} onChange={(event) => onChoose(event.target.value)}>
        <option value="">As the steps say</option>
        {(data?.agentProfiles ?? []).map(({ key, model, availability }) => (
          <option key={key} value={key} disabled={!availability.usable}>
            {model === null ? key : `${key} (${model})`}
            {availability.usable ? "" : ", not usable here"}
          </option>
        ))}
      </select>
    </div>
  );
}
