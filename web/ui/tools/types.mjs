// Reads the OpenAPI document from a file and prints `src/api/types.ts`: an interface for each schema, and for each
// route its path, query, body and answer.
import { readFileSync } from "node:fs";

const NOTE = "// Made by `bin/ui` from the OpenAPI document. Do not edit.\n";
const METHODS = ["get", "post", "put", "patch", "delete"];

function nameOf(ref) {
  return ref.slice(ref.lastIndexOf("/") + 1);
}

function primitive(schema, type) {
  if (type === "integer" || type === "number") return "number";
  if (type === "boolean") return "boolean";
  if (type === "null") return "null";
  if (type === "string") return "string";
  if (type === "array") return `${wrap(typeOf(schema.items ?? {}))}[]`;
  if (schema.properties) return inline(schema);
  const values = schema.additionalProperties;
  return `Record<string, ${values && values !== true ? typeOf(values) : "unknown"}>`;
}

function wrap(type) {
  return type.includes("|") || type.includes("&") ? `(${type})` : type;
}

/** @returns the TypeScript type of a JSON schema. */
export function typeOf(schema) {
  if (schema.$ref) return nameOf(schema.$ref);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  const options = schema.anyOf ?? schema.oneOf;
  if (options) return [...new Set(options.map(typeOf))].join(" | ");
  if (schema.allOf) return schema.allOf.map((part) => wrap(typeOf(part))).join(" & ");
  if (schema.type === undefined) return schema.properties ? inline(schema) : "unknown";
  const types = [schema.type].flat().map((type) => primitive(schema, type));
  return [...new Set(types)].join(" | ");
}

function fieldsOf(schema, indent, optional, left = []) {
  const required = new Set(schema.required ?? []);
  const fields = Object.entries(schema.properties ?? {}).filter(([name]) => !left.includes(name));
  return fields.map(([name, field]) => {
    const key = /^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name);
    const mark = optional && !required.has(name) ? "?" : "";
    return `${indent}${key}${mark}: ${typeOf(field)};`;
  });
}

function inline(schema) {
  return `{ ${fieldsOf(schema, "", true).join(" ")} }`;
}

/** The fields of the schemas that an object is, besides its own: they say more about the same fields. */
function fieldsOfParts(schema, schemas) {
  const parts = [...(schema.allOf ?? []), ...(schema.oneOf ?? [])].map(({ $ref }) => schemas[nameOf($ref)]);
  return [...Object.keys(schema.properties ?? {}), ...parts.flatMap((part) => fieldsOfParts(part, schemas))];
}

function interfaceOf(name, schema, optional, schemas) {
  if (!schema.properties) return `export type ${name} = ${typeOf(schema)};\n`;
  if (schema.allOf) {
    const parts = { allOf: schema.allOf };
    const own = `{\n${fieldsOf(schema, "  ", optional, fieldsOfParts(parts, schemas)).join("\n")}\n}`;
    return `export type ${name} = ${own} & ${typeOf(parts)};\n`;
  }
  return `export interface ${name} {\n${fieldsOf(schema, "  ", optional).join("\n")}\n}\n`;
}

// A field that is absent from a row is a defect, so only bodies and objects that are not rows have optional fields.
function schemasInBodies(document) {
  const found = new Set();
  const visit = (value) => {
    if (Array.isArray(value)) value.forEach(visit);
    else if (value && typeof value === "object") {
      if (value.$ref?.startsWith("#/components/schemas/") && !found.has(nameOf(value.$ref))) {
        found.add(nameOf(value.$ref));
        visit(document.components.schemas[nameOf(value.$ref)]);
      }
      Object.values(value).forEach(visit);
    }
  };
  for (const item of Object.values(document.paths)) for (const method of METHODS) visit(item[method]?.requestBody);
  return found;
}

function jsonOf(part) {
  const content = part?.content ?? {};
  const schema = (content["application/json"] ?? Object.values(content)[0])?.schema;
  if (!schema) return undefined;
  // Only `as=sql` is answered with a statement, and one function of the client asks for that.
  const others = schema.oneOf?.filter(({ $ref }) => !$ref || nameOf($ref) !== "Statement");
  return typeOf(others ? { oneOf: others } : schema);
}

function answerOf(operation) {
  const [, answer] = Object.entries(operation.responses).find(([status]) => /^2/.test(status)) ?? [];
  return jsonOf(answer) ?? "null";
}

function parametersOf(parameters, where) {
  const fields = parameters
    .filter((parameter) => parameter.in === where)
    .map((parameter) => {
      const mark = parameter.required && where === "path" ? "" : "?";
      const type = typeOf(parameter.schema ?? {}).replace(" | null", "");
      return `${JSON.stringify(parameter.name)}${mark}: ${type}`;
    });
  return fields.length ? `{ ${fields.join("; ")} }` : undefined;
}

function routesOf(document) {
  const lines = [];
  for (const [path, item] of Object.entries(document.paths))
    for (const method of METHODS) {
      const operation = item[method];
      if (!operation) continue;
      const parameters = [...(item.parameters ?? []), ...(operation.parameters ?? [])];
      const parts = {
        path: parametersOf(parameters, "path"),
        query: parametersOf(parameters, "query"),
        body: jsonOf(operation.requestBody),
        answer: answerOf(operation),
      };
      const shape = Object.entries(parts)
        .filter(([, type]) => type !== undefined)
        .map(([name, type]) => `${name}: ${type}`)
        .join("; ");
      const route = `${method.toUpperCase()} ${path.replace(/^\/v1/, "")}`;
      lines.push(`  ${JSON.stringify(route)}: { ${shape} };`);
    }
  return `export interface Routes {\n${lines.join("\n")}\n}\n`;
}

/** @returns the text of `types.ts` for an OpenAPI document. */
export function typesOf(document) {
  const bodies = schemasInBodies(document);
  const interfaces = Object.entries(document.components.schemas)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, schema]) => {
      const optional = bodies.has(name) || name === "ErrorBody" || schema.additionalProperties !== false;
      return interfaceOf(name, schema, optional, document.components.schemas);
    });
  return [NOTE, ...interfaces, routesOf(document)].join("\n");
}

if (import.meta.url === `file://${process.argv[1]}`) {
  const document = JSON.parse(readFileSync(process.argv[2], "utf8"));
  process.stdout.write(typesOf(document));
}
