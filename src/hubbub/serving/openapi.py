"""OpenAPI 3.1, made from the operations of `contract` and the models they name."""

from importlib.metadata import version
from typing import Any

import msgspec

from hubbub.serving.contract import OPERATIONS, Operation, Problem
from hubbub.serving.problems import PROBLEM_JSON, URN

_REF = "#/components/schemas/{name}"


def document(servers: dict[str, str]) -> dict[str, Any]:
    """The description of both listeners.

    Args:
        servers: The address of each of them.
    """
    models = [model for o in OPERATIONS for model in (o.answer, o.body) if model is not None and not _is_text(model)]
    _, components = msgspec.json.schema_components([*models, Problem], ref_template=_REF)
    paths: dict[str, Any] = {}
    for operation in OPERATIONS:
        item = paths.setdefault(operation.path, {})
        item[operation.method] = _operation(operation)
        item.setdefault("servers", []).append({"url": servers[operation.listener], "description": operation.listener})
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "hubbub",
            "version": version("hubbub"),
            "summary": "Telemetry under local differential privacy",
        },
        "servers": [{"url": servers["read"]}],
        "paths": paths,
        "components": {"schemas": components},
    }


def _operation(operation: Operation) -> dict[str, Any]:
    kind = operation.answer.partition(";")[0] if _is_text(operation.answer) else "application/json"
    described: dict[str, Any] = {
        "operationId": f"{operation.listener}_{operation.method}_{operation.path.strip('/').translate(_PLAIN)}",
        "summary": operation.summary,
        "tags": [operation.listener],
        "responses": {"200": {"description": "Done", "content": {kind: {"schema": _schema(operation.answer)}}}},
    }
    if operation.parameters:
        described["parameters"] = [
            {
                "name": parameter.name,
                "in": parameter.where,
                "required": parameter.where == "path",
                "description": parameter.description,
                "schema": dict(parameter.schema),
            }
            for parameter in operation.parameters
        ]
    if operation.body is not None:
        described["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": _schema(operation.body)}},
        }
    for status, codes in operation.problems.items():
        schema = {
            "allOf": [
                _schema(Problem),
                {"properties": {"type": {"enum": [URN + code for code in codes]}, "status": {"const": status}}},
            ]
        }
        described["responses"][str(status)] = {
            "description": ", ".join(codes),
            "content": {PROBLEM_JSON: {"schema": schema}},
        }
    return described


def _schema(model: Any) -> Any:
    if _is_text(model):
        return {"type": "string"}
    (schema,), _ = msgspec.json.schema_components([model], ref_template=_REF)
    return schema


def _is_text(model: Any) -> bool:
    return isinstance(model, str)


_PLAIN = str.maketrans({"/": "_", ".": "_", "{": "", "}": ""})
