/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';
/** The only inputs that are learned, all short texts. */
export type LearnedField =
  /** Input `angle`. */
  | 'ANGLE'
  /** Input `audience`. */
  | 'AUDIENCE'
  /** Input `author`. */
  | 'AUTHOR'
  /** Input `format`. */
  | 'FORMAT'
  /** Input `kind`. */
  | 'KIND'
  /** Input `model`. */
  | 'MODEL'
  /** Input `persona`. */
  | 'PERSONA'
  /** Input `persona_used`. */
  | 'PERSONA_USED'
  /** Input `theme`. */
  | 'THEME'
  /** Input `voice`. */
  | 'VOICE';

/** Kinds of refusal. What goes wrong inside a run is a FailureCode. */
export type ProblemCode =
  /** The object changed since the caller read it, is read-only, or the handle is taken. */
  | 'CONFLICT'
  /** The caller may not do this. */
  | 'FORBIDDEN'
  /** The input breaks a rule; see the issues. */
  | 'INVALID'
  /** A limit is reached. */
  | 'LIMITED'
  /** The object named does not exist, or the caller may not know of it. */
  | 'NOT_FOUND'
  /** A pack, credential, service, model or session it needs is missing here. */
  | 'UNAVAILABLE'
  /** The run's state does not allow it. */
  | 'WRONG_STATE';

/** What an entry or step can need. */
export type RequirementKind =
  /** An agent profile. */
  | 'AGENT_PROFILE'
  /** A credential, stored and granted. */
  | 'CREDENTIAL'
  /** A run input. */
  | 'INPUT'
  /** A sandbox strong enough. */
  | 'ISOLATION'
  /** A model or model role. */
  | 'MODEL'
  /** A pack, in a version that satisfies the step. */
  | 'PACK'
  /** An outside service or program. */
  | 'SERVICE'
  /** A pack that can leave or keep a session. */
  | 'SESSION';

/** How bad an issue is. */
export type Severity =
  /** Refused. */
  | 'ERROR'
  /** Worth knowing. */
  | 'WARNING';

export type StartPipelineMutationVariables = Exact<{
  pipeline: string;
  inputs: unknown;
  fromMemory: Array<LearnedField> | LearnedField;
  idempotencyKey?: string | null | undefined;
  agent?: string | null | undefined;
}>;


export type StartPipelineMutation = { runPipeline:
    | { __typename: 'ConflictProblem', message: string, code: ProblemCode, hint: string | null, retryable: boolean }
    | { __typename: 'ForbiddenProblem', message: string, code: ProblemCode, hint: string | null, retryable: boolean }
    | { __typename: 'InvalidProblem', message: string, code: ProblemCode, hint: string | null, retryable: boolean, issues: Array<{ path: Array<string>, rule: string, severity: Severity, message: string, hint: string | null }> }
    | { __typename: 'LimitedProblem', message: string, code: ProblemCode, hint: string | null, retryable: boolean }
    | { __typename: 'NotFoundProblem', message: string, code: ProblemCode, hint: string | null, retryable: boolean }
    | { __typename: 'StartRunSuccess', coalesced: boolean, run: { id: string } | null }
    | { __typename: 'UnavailableProblem', message: string, code: ProblemCode, hint: string | null, retryable: boolean, missing: Array<{ kind: RequirementKind, name: string, steps: Array<string>, message: string, hint: string | null }> }
   };

export type StartPackMutationVariables = Exact<{
  pack: string;
  input: unknown;
  fromMemory: Array<LearnedField> | LearnedField;
  idempotencyKey?: string | null | undefined;
}>;


export type StartPackMutation = { runPack:
    | { __typename: 'ConflictProblem', message: string, code: ProblemCode, hint: string | null, retryable: boolean }
    | { __typename: 'ForbiddenProblem', message: string, code: ProblemCode, hint: string | null, retryable: boolean }
    | { __typename: 'InvalidProblem', message: string, code: ProblemCode, hint: string | null, retryable: boolean, issues: Array<{ path: Array<string>, rule: string, severity: Severity, message: string, hint: string | null }> }
    | { __typename: 'LimitedProblem', message: string, code: ProblemCode, hint: string | null, retryable: boolean }
    | { __typename: 'NotFoundProblem', message: string, code: ProblemCode, hint: string | null, retryable: boolean }
    | { __typename: 'StartRunSuccess', run: { id: string } | null }
    | { __typename: 'UnavailableProblem', message: string, code: ProblemCode, hint: string | null, retryable: boolean, missing: Array<{ kind: RequirementKind, name: string, steps: Array<string>, message: string, hint: string | null }> }
   };


export const StartPipelineDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"StartPipeline"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"pipeline"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"inputs"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"JSON"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"fromMemory"}},"type":{"kind":"NonNullType","type":{"kind":"ListType","type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"LearnedField"}}}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"idempotencyKey"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"agent"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"runPipeline"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"pipeline"},"value":{"kind":"Variable","name":{"kind":"Name","value":"pipeline"}}},{"kind":"Argument","name":{"kind":"Name","value":"inputs"},"value":{"kind":"Variable","name":{"kind":"Name","value":"inputs"}}},{"kind":"Argument","name":{"kind":"Name","value":"fromMemory"},"value":{"kind":"Variable","name":{"kind":"Name","value":"fromMemory"}}},{"kind":"Argument","name":{"kind":"Name","value":"idempotencyKey"},"value":{"kind":"Variable","name":{"kind":"Name","value":"idempotencyKey"}}},{"kind":"Argument","name":{"kind":"Name","value":"agent"},"value":{"kind":"Variable","name":{"kind":"Name","value":"agent"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"__typename"}},{"kind":"FragmentSpread","name":{"kind":"Name","value":"ProblemParts"}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"StartRunSuccess"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"coalesced"}},{"kind":"Field","name":{"kind":"Name","value":"run"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}}]}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"ProblemParts"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Problem"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"__typename"}},{"kind":"Field","name":{"kind":"Name","value":"message"}},{"kind":"Field","name":{"kind":"Name","value":"code"}},{"kind":"Field","name":{"kind":"Name","value":"hint"}},{"kind":"Field","name":{"kind":"Name","value":"retryable"}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"InvalidProblem"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"issues"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"path"}},{"kind":"Field","name":{"kind":"Name","value":"rule"}},{"kind":"Field","name":{"kind":"Name","value":"severity"}},{"kind":"Field","name":{"kind":"Name","value":"message"}},{"kind":"Field","name":{"kind":"Name","value":"hint"}}]}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"UnavailableProblem"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"missing"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"kind"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"steps"}},{"kind":"Field","name":{"kind":"Name","value":"message"}},{"kind":"Field","name":{"kind":"Name","value":"hint"}}]}}]}}]}}]} as unknown as DocumentNode<StartPipelineMutation, StartPipelineMutationVariables>;
export const StartPackDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"StartPack"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"pack"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"JSON"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"fromMemory"}},"type":{"kind":"NonNullType","type":{"kind":"ListType","type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"LearnedField"}}}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"idempotencyKey"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"runPack"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"pack"},"value":{"kind":"Variable","name":{"kind":"Name","value":"pack"}}},{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}},{"kind":"Argument","name":{"kind":"Name","value":"fromMemory"},"value":{"kind":"Variable","name":{"kind":"Name","value":"fromMemory"}}},{"kind":"Argument","name":{"kind":"Name","value":"idempotencyKey"},"value":{"kind":"Variable","name":{"kind":"Name","value":"idempotencyKey"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"__typename"}},{"kind":"FragmentSpread","name":{"kind":"Name","value":"ProblemParts"}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"StartRunSuccess"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"run"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}}]}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"ProblemParts"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Problem"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"__typename"}},{"kind":"Field","name":{"kind":"Name","value":"message"}},{"kind":"Field","name":{"kind":"Name","value":"code"}},{"kind":"Field","name":{"kind":"Name","value":"hint"}},{"kind":"Field","name":{"kind":"Name","value":"retryable"}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"InvalidProblem"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"issues"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"path"}},{"kind":"Field","name":{"kind":"Name","value":"rule"}},{"kind":"Field","name":{"kind":"Name","value":"severity"}},{"kind":"Field","name":{"kind":"Name","value":"message"}},{"kind":"Field","name":{"kind":"Name","value":"hint"}}]}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"UnavailableProblem"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"missing"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"kind"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"steps"}},{"kind":"Field","name":{"kind":"Name","value":"message"}},{"kind":"Field","name":{"kind":"Name","value":"hint"}}]}}]}}]}}]} as unknown as DocumentNode<StartPackMutation, StartPackMutationVariables>;