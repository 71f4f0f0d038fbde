// A small agent in C++: remembers a fact, corrects it, and finds what is believed now.
//
// Usage: agent TARGET BRAIN, with TARGET such as unix:/run/amemd/amemd.sock

#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>

#include <grpcpp/grpcpp.h>

#include "amem/v1/brain.grpc.pb.h"
#include "amem/v1/memory.grpc.pb.h"
#include "amem/v1/query.grpc.pb.h"

namespace v1 = amem::v1;

static void check(const grpc::Status& status, const char* call) {
  if (status.ok()) return;
  std::cerr << call << ": " << status.error_message() << "\n";
  std::exit(1);
}

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: agent TARGET BRAIN\n";
    return 2;
  }
  const std::string brain = argv[2];
  auto channel = grpc::CreateChannel(argv[1], grpc::InsecureChannelCredentials());
  auto brains = v1::BrainService::NewStub(channel);
  auto memory = v1::MemoryService::NewStub(channel);
  auto query = v1::QueryService::NewStub(channel);

  {
    grpc::ClientContext context;
    v1::CreateBrainRequest request;
    v1::CreateBrainResponse response;
    request.set_brain(brain);
    auto status = brains->CreateBrain(&context, request, &response);
    if (status.error_code() != grpc::StatusCode::ALREADY_EXISTS) check(status, "CreateBrain");
  }

  v1::IngestResponse ingested;
  {
    grpc::ClientContext context;
    v1::IngestRequest request;
    request.set_brain(brain);
    request.mutable_options()->set_agent("agent-cpp");
    auto* event = request.add_events();
    event->set_type(v1::EVENT_TYPE_FACT);
    event->set_text("The staging database listens on port 5432");
    check(memory->Ingest(&context, request, &ingested), "Ingest");
  }

  {
    grpc::ClientContext context;
    v1::CorrectRequest request;
    v1::CorrectResponse response;
    request.set_brain(brain);
    request.set_target_id(ingested.event_ids(0));
    request.mutable_event()->set_text("The staging database listens on port 6432");
    request.set_reason("moved behind a pooler");
    check(memory->Correct(&context, request, &response), "Correct");
  }

  grpc::ClientContext context;
  v1::SearchRequest request;
  v1::SearchResponse found;
  request.set_brain(brain);
  request.set_text("staging database port");
  check(query->Search(&context, request, &found), "Search");
  if (found.hits_size() == 0) {
    std::cerr << "Search found nothing\n";
    return 1;
  }
  const auto& event = found.hits(0).event();
  std::cout << event.text() << (event.vector_present() ? " (with a vector)" : "") << "\n";
}
