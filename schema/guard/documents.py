"""Parses, measures and validates each document once, and caches the result by its text.

Validation is most of the cost of a small query (0.5 of 0.97 ms, graphql-core 3.3), and clients send the same few
documents with different variables.
"""

from __future__ import annotations

from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from graphql import (
    FieldsOnCorrectTypeRule,
    GraphQLError,
    Lexer,
    OperationDefinitionNode,
    OperationType,
    Source,
    TokenKind,
    parse,
    specified_rules,
    validate,
)
from strawberry.extensions import SchemaExtension
from strawberry.schema.validation_rules.maybe_null import MaybeNullValidationRule
from strawberry.schema.validation_rules.one_of import OneOfInputValidationRule

from runner.excerpts import excerpt
from schema.guard.cost import CostModel, CostPlan
from schema.guard.limits import RequestLimits, check_literals, check_shape, too_complex

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from graphql import DocumentNode, GraphQLSchema, Token


class _FieldsRule(FieldsOnCorrectTypeRule):
    """Refuses fields that a type does not have, and names the type in the error's extensions."""

    def report_error(self, error: GraphQLError) -> None:
        """Report an unknown field; see `graphql.ASTValidationRule.report_error`."""
        kind = self.context.get_parent_type()
        if kind is not None:
            error.extensions = {"type": kind.name}
        super().report_error(error)


_RULES = (
    *(_FieldsRule if rule is FieldsOnCorrectTypeRule else rule for rule in specified_rules),
    *(MaybeNullValidationRule, OneOfInputValidationRule),
)
_MAX_ERRORS = 20
_MAX_DOCUMENTS = 512
#: A parsed document takes some 170 times its text; together they stay below 100 MB whatever is sent.
_MAX_CHARACTERS = 512 * 1024
#: Message for a request without a document, over every transport.
QUERY_MISSING = "`query` is missing; it must be the text of a GraphQL document."
_QUERY_EMPTY = "`query` is empty; it must be the text of a GraphQL document."
_BAD_REQUEST = {"code": "BAD_REQUEST"}
#: The parser fails at about 200 nested brackets, with an error that programs cannot recognize.
_NESTED = 100


def _no_operation(name: str | None) -> str:
    if name is None:
        return "The document holds no operation."
    return f"The document holds no operation named `{excerpt(name, 100)}`."


class NoOperationError(GraphQLError):
    """The document is empty, or does not contain the requested operation."""


class SeveralOperationsError(GraphQLError):
    """The document contains several operations, and the request names none."""


@dataclass(frozen=True, slots=True)
class CheckedDocument:
    """A parsed document with everything about it that does not depend on variables."""

    #: None if it could not be parsed.
    document: DocumentNode | None
    #: Why it is refused; empty if it may be executed.
    errors: tuple[GraphQLError, ...]
    #: Operation types by name; the key None is the only operation, named or not.
    operations: Mapping[str | None, OperationType]
    #: Cost plans by the same names.
    costs: Mapping[str | None, CostPlan]

    def selection_errors(self, operation: str | None) -> list[GraphQLError]:
        """Return why the text is not a document, or why the operation cannot be determined; empty otherwise."""
        if self.document is None:
            return list(self.errors)
        if not self.operations or (operation is not None and operation not in self.operations):
            return [NoOperationError(_no_operation(operation), extensions=_BAD_REQUEST)]
        if operation is None and None not in self.operations and not self.errors:
            # Strawberry would run the first one; the specification (6.1) requires a name.
            return [
                SeveralOperationsError(
                    "The document holds several operations; name one in `operationName`.", extensions=_BAD_REQUEST
                )
            ]
        return []

    def refusals(
        self, operation: str | None, variables: Mapping[str, object], limits: RequestLimits
    ) -> list[GraphQLError]:
        """Return why the operation is refused with these variables; empty if it may be executed."""
        if self.errors:
            return list(self.errors)
        plan = self.costs.get(operation)
        if plan is None:
            return []  # Strawberry reports the unknown operation
        cost = plan.total(variables)
        return [too_complex("cost", "cost", cost, limits.cost)] if cost > limits.cost else []


class Documents:
    """A bounded cache of the documents of one schema; the least recently used are evicted."""

    def __init__(self, schema: GraphQLSchema, limits: RequestLimits) -> None:
        self.limits = limits
        self._schema = schema
        self._model = CostModel(schema)
        self._known: OrderedDict[str, CheckedDocument] = OrderedDict()
        self._characters = 0

    def __len__(self) -> int:
        return len(self._known)

    def get(self, text: str) -> CheckedDocument:
        """Return the checked document for a text; a client's errors are returned in it, not raised."""
        checked = self._known.get(text)
        if checked is not None:
            self._known.move_to_end(text)
            return checked
        checked = self._check(text)
        if len(text) <= _MAX_CHARACTERS // 8:
            self._known[text] = checked
            self._characters += len(text)
            while len(self._known) > _MAX_DOCUMENTS or self._characters > _MAX_CHARACTERS:
                evicted, _ = self._known.popitem(last=False)
                self._characters -= len(evicted)
        return checked

    def operation_type(self, text: str, operation: str | None) -> OperationType | None:
        """Return the type of the operation that would be executed, or None."""
        return self.get(text).operations.get(operation)

    def _check(self, text: str) -> CheckedDocument:
        if len(text) > self.limits.document_characters:
            refusal = too_complex(
                "characters of the document", "document_characters", len(text), self.limits.document_characters
            )
            return CheckedDocument(None, (refusal,), {}, {})
        most = self.limits.lexemes
        if not text.strip():
            return CheckedDocument(None, (NoOperationError(_QUERY_EMPTY, extensions=_BAD_REQUEST),), {}, {})
        try:
            document = parse(text, max_lexical_tokens=most, max_comments=most)
        except GraphQLError as error:
            refusal = self._too_large(text, min(error.positions or (0,))) or error.with_traceback(None)
            return CheckedDocument(None, (refusal,), {}, {})
        operations = [node for node in document.definitions if isinstance(node, OperationDefinitionNode)]
        kinds: dict[str | None, OperationType] = {
            node.name.value if node.name else None: node.operation for node in operations
        }
        if len(operations) == 1:
            kinds[None] = operations[0].operation
        errors = self._errors(document, text)
        costs: dict[str | None, CostPlan] = {}
        if not errors:
            for node in operations:
                costs[node.name.value if node.name else None] = self._model.plan(document, node)
            if len(operations) == 1:
                costs[None] = next(iter(costs.values()))
        return CheckedDocument(document, errors, kinds, costs)

    def _too_large(self, text: str, position: int) -> GraphQLError | None:
        """Return the refusal if the parser failed at this position because of a size limit, or None."""
        most, read = self.limits.lexemes, _measured(text[:position])
        if read.lexemes >= most:
            return too_complex("lexemes", "lexemes", most + 1, most)
        if read.comments >= most:
            return too_complex("comments", "lexemes", most + 1, most)
        if read.nesting > _NESTED:
            return too_complex("depth", "depth", read.nesting, self.limits.depth)
        return None

    def _errors(self, document: DocumentNode, text: str) -> tuple[GraphQLError, ...]:
        refusal = check_shape(document, self.limits) or check_literals(document, text)
        if refusal is not None:
            return (refusal,)
        # Errors suggest similar names: only signed-in callers reach this point, and they can read the schema anyway.
        return tuple(validate(self._schema, document, _RULES, max_errors=_MAX_ERRORS))


class _Measured(NamedTuple):
    """Size of a text up to its first lexical error."""

    lexemes: int
    comments: int
    #: Maximum nesting of brackets of any kind.
    nesting: int


_OPENING = frozenset({TokenKind.BRACE_L, TokenKind.BRACKET_L, TokenKind.PAREN_L})
_CLOSING = frozenset({TokenKind.BRACE_R, TokenKind.BRACKET_R, TokenKind.PAREN_R})


def _measured(text: str) -> _Measured:
    lexer = Lexer(Source(text))
    token: Token | None = lexer.token
    with suppress(GraphQLError):
        while lexer.advance().kind is not TokenKind.EOF:
            pass
    lexemes = comments = open_now = nesting = 0
    while token is not None:
        if token.kind is TokenKind.COMMENT:
            comments += 1
        elif token.kind not in (TokenKind.SOF, TokenKind.EOF):
            lexemes += 1
            open_now += (token.kind in _OPENING) - (token.kind in _CLOSING)
            nesting = max(nesting, open_now)
        token = token.next
    return _Measured(lexemes, comments, nesting)


class DocumentGuard(SchemaExtension):
    """Makes Strawberry execute only checked documents; part of `schema.guard.guarded_schema.GuardedSchema`."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    def on_parse(self) -> Iterator[None]:
        """Pass the parsed document and its refusals to Strawberry, which then neither parses nor validates."""
        context = self.execution_context
        checked = self._documents.get(context.query or "")
        if checked.document is None:
            raise checked.errors[0]
        context.graphql_document = checked.document
        context.pre_execution_errors = checked.refusals(
            context.operation_name, context.variables or {}, self._documents.limits
        )
        yield
