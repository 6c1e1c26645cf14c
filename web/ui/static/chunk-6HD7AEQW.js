import{T as o}from"/ui/chunk-PGULINS6.js";var a="hello-1";function u(e,t,r,i){if(e==="OpenTelemetry")return p(t,r);let n={session_id:a,timestamp:i.toISOString(),type:"agent_start",goal:"Say hello"};return e==="curl"?`curl -sS ${t}/v1/events -H 'Authorization: Bearer ${r}' -H 'Content-Type: application/x-ndjson' -d '${JSON.stringify(n)}'`:`python3 - <<'END'
import json, urllib.request

event = ${JSON.stringify(n)}
request = urllib.request.Request(
    "${t}/v1/events",
    json.dumps([event]).encode(),
    {"Authorization": "Bearer ${r}", "Content-Type": "application/json"},
)
print(urllib.request.urlopen(request).read().decode())
END`}function p(e,t){return`export OTEL_EXPORTER_OTLP_ENDPOINT=${e}
export OTEL_EXPORTER_OTLP_HEADERS="x-api-key=${t}"
export OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental
export ${o}`}function s(e){return btoa(String.fromCharCode(...e)).replaceAll("+","-").replaceAll("/","_").replaceAll("=","")}function c(){return`wp_${s(crypto.getRandomValues(new Uint8Array(32)))}`}export{a,u as b,c};
