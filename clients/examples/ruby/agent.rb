# frozen_string_literal: true

# A small agent in Ruby: remembers a fact, corrects it, and finds what is believed now.
#
# Usage: ruby agent.rb TARGET BRAIN, with TARGET such as unix:/run/amemd/amemd.sock

require 'grpc'
require 'amem/v1/brain_services_pb'
require 'amem/v1/memory_services_pb'
require 'amem/v1/query_services_pb'

abort 'usage: agent.rb TARGET BRAIN' unless ARGV.size == 2
target, brain = ARGV
brains = Amem::V1::BrainService::Stub.new(target, :this_channel_is_insecure)
memory = Amem::V1::MemoryService::Stub.new(target, :this_channel_is_insecure)
query = Amem::V1::QueryService::Stub.new(target, :this_channel_is_insecure)

begin
  brains.create_brain(Amem::V1::CreateBrainRequest.new(brain: brain))
rescue GRPC::AlreadyExists
  # An earlier run made it.
end
ingested = memory.ingest(
  Amem::V1::IngestRequest.new(
    brain: brain,
    options: Amem::V1::WriteOptions.new(agent: 'agent-ruby'),
    events: [
      Amem::V1::NewEvent.new(type: :EVENT_TYPE_FACT, text: 'The staging database listens on port 5432')
    ]
  )
)
memory.correct(
  Amem::V1::CorrectRequest.new(
    brain: brain,
    target_id: ingested.event_ids.first,
    event: Amem::V1::NewEvent.new(text: 'The staging database listens on port 6432'),
    reason: 'moved behind a pooler'
  )
)
found = query.search(Amem::V1::SearchRequest.new(brain: brain, text: 'staging database port'))
abort 'Search found nothing' if found.hits.empty?
puts found.hits.first.event.text
