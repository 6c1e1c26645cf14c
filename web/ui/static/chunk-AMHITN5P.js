import{a as o}from"/ui/chunk-YAYNKRKR.js";var s="hello-1";function c(e,t,r,i){if(e==="OpenTelemetry")return p(t,r);let n={session_id:s,timestamp:i.toISOString(),type:"agent_start",goal:"Say hello"};if(e==="curl"){let a=`-H 'Authorization: Bearer ${r}' -H 'Content-Type: application/x-ndjson'`;return`curl -sS ${t}/v1/events ${a} -d '${JSON.stringify(n)}'`}return`python3 - <<'END'
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
export ${o}`}function l(e){return btoa(String.fromCharCode(...e)).replaceAll("+","-").replaceAll("/","_").replaceAll("=","")}function T(){return`wp_${l(crypto.getRandomValues(new Uint8Array(32)))}`}export{s as a,c as b,T as c};
